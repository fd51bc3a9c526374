"""Stands in for visdom, whose source package does not build; adversarial-library needs only the name at import."""


class Visdom:
    """Nothing; refuses to be made."""

    def __init__(self, *arguments: object, **options: object) -> None:
        raise RuntimeError("visdom is only a stand-in here")
