"""Operations as bars over time."""
