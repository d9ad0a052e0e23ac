"""``python -m stoker``: the command, where it is not on the path."""

from stoker.cli.main import main

if __name__ == "__main__":
    main()
