"""The checks of the kit, by what they look at; `ReaderConformance` is all of them."""
