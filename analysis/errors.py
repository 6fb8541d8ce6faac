"""What can go wrong in a way that a user can fix, as one small tree.

HeadAtlasError
├── ModelError            exit code 3: the model cannot be opened
│   ├── ModelNotFound       no such folder, id or revision
│   ├── ModelGated          the hub wants a licence accepted or a token
│   ├── UnknownFamily       no row in `analysis.models.families` for this architecture, or not as GGUF
│   ├── NoSafetensors       a folder with only pickled or otherwise unreadable weights
│   ├── MissingShard        a file of a model in several files is not there
│   ├── DamagedFile         truncated or unreadable
│   ├── MissingTensor       the family row names a tensor that is not there
│   ├── ConfigMismatch      config.json contradicts the tensors
│   ├── UnsupportedDtype    numbers in a format that is not supported
│   └── TokenizerMissing    no tokenizer files, or one that cannot be read
├── SettingError          exit code 2: an invalid setting
├── RelationError         exit code 4: a relation is unknown, malformed or too large
│   └── RelationNotFound    a set of relations has none of that name
├── HeadError             exit code 5: not the name of a head, or a head that the model does not have
├── QueueFull             exit code 8: too many jobs are waiting
├── ServerBusy            exit code 8: too many large files are asked for
├── WorkerBusy            exit code 8: no worker had time for a question within some seconds
├── TaskError             exit code 9: a task is unknown, malformed or too large
├── DeviceError           exit code 6: no such device, or it ran out of memory
└── StoreError            exit code 7: results cannot be read or written, in the store or in a file

Each carries a hint that says what to do. They are raised where the problem is found and turned into
words in one place per interface (the command line's is `analysis.cli.main`).
"""


class HeadAtlasError(Exception):
    """Something a user can fix: `str(error)` says what is wrong, `hint` how to fix it."""

    exit_code = 1
    field = ""  # of a request that it is about

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ModelError(HeadAtlasError):
    """The model cannot be opened."""

    exit_code = 3
    field = "model"


class ModelNotFound(ModelError):
    """No folder, cached snapshot or hub repository has this name."""


class ModelGated(ModelError):
    """The hub has the model but refuses access to it."""


class UnknownFamily(ModelError):
    """The architecture has no row in `analysis.models.families`, or cannot be read from GGUF."""


class NoSafetensors(ModelError):
    """The folder holds no weights as safetensors, the only format that is read from folders."""


class MissingShard(ModelError):
    """A shard that the weight index names, or a part of a split GGUF file, is not in the folder."""


class DamagedFile(ModelError):
    """A file of the checkpoint is truncated or cannot be read."""


class MissingTensor(ModelError):
    """A tensor that the family needs is not in the checkpoint."""


class ConfigMismatch(ModelError):
    """config.json and the tensors describe different models."""


class UnsupportedDtype(ModelError):
    """The numbers of a tensor are in a format that is not supported, for example 8-bit."""


class TokenizerMissing(ModelError):
    """The checkpoint's tokenizer is absent or cannot be read."""


class SettingError(HeadAtlasError):
    """An invalid setting, or one that asks for what is not there."""

    exit_code = 2


class RelationError(HeadAtlasError):
    """A relation is unknown, malformed or too large."""

    exit_code = 4
    field = "files"


class RelationNotFound(RelationError):
    """A set of relations has none of that name."""


class HeadError(HeadAtlasError):
    """A head name that cannot be read, or a head the model does not have."""

    exit_code = 5


class DeviceError(HeadAtlasError):
    """The device does not exist or ran out of memory."""

    exit_code = 6


class StoreError(HeadAtlasError):
    """The result store cannot be read or written."""

    exit_code = 7


class QueueFull(HeadAtlasError):
    """Too many jobs are waiting."""

    exit_code = 8


class ServerBusy(HeadAtlasError):
    """Too many large files are asked for at a time."""

    exit_code = 8


class WorkerBusy(HeadAtlasError):
    """No worker had time for a question."""

    exit_code = 8


class TaskError(HeadAtlasError):
    """A task is unknown, malformed or too large."""

    exit_code = 9
    field = "files"
