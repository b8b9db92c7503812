"""What a user can put right: each of these is told as a sentence, never as a traceback."""


class CourseError(ValueError):
    """Something about a course directory that its owner can put right; the text says how."""


class UnknownLesson(LookupError):
    """No lesson or question of that name; the text says which there are."""

    def __str__(self) -> str:
        return self.args[0]


class WallError(RuntimeError):
    """There is no wall to be had here; the text says what is missing."""


class ReleaseError(ValueError):
    """An exercise file that cannot be released; the text says where and why."""


class Missing(LookupError):
    """Nothing was handed in; the text says what was looked for."""

    def __str__(self) -> str:
        return self.args[0]


class Unreadable(ValueError):
    """A file that is no notebook; the text says why in a sentence."""
