"""Plans carried out: actions on single resources, with every commit that durability asks for."""
