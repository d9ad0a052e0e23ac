"""Operations from their beginning to their end, and the driver that takes a stack through them."""
