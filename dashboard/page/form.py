"""The form that asks for an analysis, made from the settings of the methods: their titles, limits and defaults."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import dash_mantine_components as dmc
from dash import dcc, html

from analysis import methods
from analysis.jobs.request import Request
from analysis.method import Method
from analysis.settings import hints_of
from dashboard.page import ids

FieldKind = Literal["text", "lines", "number", "numbers", "flag", "choice", "choices", "files", "file"]  # of its value
Schema = Mapping[str, Any]  # a field of the settings as JSON schema describes it
_MANY = 8  # choices: more of them are folded
_SETTING_OF = "data-methods"  # fields inside count when one of these methods is ticked, or always if none is named


def form() -> html.Div:
    """The whole form; a field that several methods share stands with those of every analysis."""
    shared = _shared_fields()
    top = [
        _text(
            "model",
            "Model",
            "org/name, or a folder or .gguf file of the models directory",
            440,
            "Which model? Type its name.",
        ),
        _text("revision", "Revision", "main", 140),
        _methods(),
        *(html.Div(_field(name, schema), **{_SETTING_OF: schema["methods"]}) for name, schema in shared.items()),
        html.Button("Analyse", id=ids.NEW_SUBMIT, className="button strong"),
    ]
    hint = "The weights are read by the worker and sent nowhere else. You can close this page: the analysis goes on."
    settings = [_settings(method, shared) for method in methods.METHODS]
    return html.Div(
        [html.Div(top, className="form"), *(part for part in settings if part is not None), _hint(hint)],
        id=ids.NEW_FORM,
    )


def wrapped(name: str, kind: FieldKind, component: Any, missing: str = "") -> html.Div:
    """A control with the name and kind of its value for the scripts; `missing` is said when a needed one is empty."""
    attributes = {"data-field": name, "data-type": kind}
    if missing:
        attributes["data-missing"] = missing
    return html.Div(component, **attributes)


def _methods() -> html.Div:
    choices = {method.name: method.title for method in methods.METHODS}
    sentences = {method.name: method.sentence for method in methods.METHODS}
    ticked = methods.default_names()
    return _choices("methods", "Methods", choices, ticked, "Which method? Tick at least one.", sentences)


@cache
def _fields(method: Method) -> Mapping[str, Schema]:
    """The fields of a method's settings that the form offers."""
    schema = method.settings.model_json_schema()
    fields: dict[str, Schema] = {}
    for name, field in schema["properties"].items():
        shown = hints_of(method.settings.model_fields[name])
        if shown["form"]:
            fields[name] = {**_resolved(field), "placeholder": shown["placeholder"], "choices": shown["choices"]}
    return fields


def _resolved(field: Schema) -> Schema:
    """A field without `… or null` and without references."""
    merged = dict(field)
    for option in field.get("anyOf", ()):
        if option.get("type") != "null":
            merged |= {**option, **field}
    if "$ref" in merged:
        merged |= {"type": merged["$ref"].rsplit("/", 1)[-1]}
    if "$ref" in merged.get("items", {}):
        merged |= {"type": f"list of {merged['items']['$ref'].rsplit('/', 1)[-1]}"}
    return merged


def _shared_fields() -> dict[str, Schema]:
    """Fields that more than one method has; each method may describe them in its own words."""
    shared: dict[str, Schema] = {}
    described: dict[str, dict[str, list[str]]] = {}  # by field and description: the methods' titles
    owners: dict[str, list[str]] = {}  # by field: their names
    for method in methods.METHODS:
        for name, schema in _fields(method).items():
            if name in described or name in Request.model_fields:
                shared[name] = schema
            described.setdefault(name, {}).setdefault(schema.get("description", ""), []).append(method.title)
            owners.setdefault(name, []).append(method.name)
    fields: dict[str, Schema] = {}
    for name, schema in shared.items():
        of_methods = "" if name in Request.model_fields else " ".join(owners[name])
        fields[name] = {**schema, "description": _for_each(described[name]), "methods": of_methods}
    return fields


def _for_each(described: Mapping[str, Sequence[str]]) -> str:
    """What a field means; for which methods, where they differ."""
    if len(described) == 1:
        return next(iter(described))
    return " ".join(f"{', '.join(titles)}: {words}." for words, titles in described.items())


def _settings(method: Method, shared: Mapping[str, Schema]) -> html.Details | None:
    """How a method is to be computed; a setting that is left empty has its default."""
    fields = {name: schema for name, schema in _fields(method).items() if name not in shared}
    if not fields:
        return None
    controls = [_field(name, schema) for name, schema in fields.items()]
    explained = [html.Dl(_explained(fields), className="settings-help")]
    parts = [
        html.Summary(f"Settings of the {method.title.lower()}"),
        html.Div(controls, className="form"),
        html.Details([html.Summary("What they mean"), *explained]),
    ]
    return html.Details(parts, className="settings", **{_SETTING_OF: method.name})


def _explained(fields: Mapping[str, Schema]) -> list[Any]:
    terms: list[Any] = []
    for schema in fields.values():
        terms += [html.Dt(schema["title"]), html.Dd(schema.get("description", ""))]
    return terms


def _field(name: str, schema: Schema) -> html.Div | html.Details:
    """The control that suits a field's type."""
    label, placeholder = schema["title"], str(schema.get("placeholder", ""))
    if schema["choices"]:
        choices = dict(schema["choices"])
        if schema["type"] != "array":
            return _choice(name, label, choices, schema)
        return _folded(name, label, choices, schema) if len(choices) > _MANY else _choices(name, label, choices)
    match schema["type"]:
        case "boolean":
            return wrapped(name, "flag", dmc.Checkbox(label=label, size="xs", mt=24))
        case "integer" | "number":
            return _number(name, label, placeholder, schema)
        case "OwnFile":
            return _files(name, "file", label)
        case "list of OwnFile":
            return _files(name, "files", label)
        case "array" if schema["items"].get("type") == "string":
            return _lines(name, label, placeholder)
        case "array":
            return _text(name, label, placeholder, 150, kind="numbers")
    return _text(name, label, placeholder, 150)


def _text(
    name: str, label: str, placeholder: str, width: int, missing: str = "", kind: Literal["text", "numbers"] = "text"
) -> html.Div:
    return wrapped(name, kind, dmc.TextInput(label=label, placeholder=placeholder, size="xs", w=width), missing)


def _lines(name: str, label: str, placeholder: str) -> html.Div:
    """Texts, one per line; as many lines as the default has."""
    lines = placeholder.count("\n") + 1
    box = dmc.Textarea(
        label=f"{label}, one per line", placeholder=placeholder, size="xs", w=240, minRows=lines, autosize=True
    )
    return wrapped(name, "lines", box)


def _number(name: str, label: str, placeholder: str, schema: Schema) -> html.Div:
    default = schema.get("default")
    component = dmc.NumberInput(
        label=label, placeholder=placeholder or ("" if default is None else f"{default:g}"),
        min=schema.get("minimum", schema.get("exclusiveMinimum")), max=schema.get("maximum"),
        size="xs", w=118, hideControls=True, allowDecimal=schema["type"] == "number", allowNegative=False,
    )  # fmt: skip
    return wrapped(name, "number", component)


def _choices(
    name: str,
    label: str,
    choices: Mapping[str, str],
    ticked: Iterable[str] = (),
    missing: str = "",
    explained: Mapping[str, str] | None = None,
) -> html.Div:
    boxes = []
    for value, words in choices.items():
        box = dmc.Checkbox(label=words, value=value, size="xs")
        boxes.append(html.Div(box, title=(explained or {}).get(value, "")))
    group = dmc.CheckboxGroup(dmc.Stack(boxes, gap=6), label=label, value=list(ticked), size="xs")
    return wrapped(name, "choices", group, missing)


def _folded(name: str, label: str, choices: Mapping[str, str], schema: Schema) -> html.Details:
    """Many choices, out of sight at first."""
    content = [_hint(schema.get("description", "")), _choices(name, f"Only these {label.lower()}", choices)]
    return html.Details([html.Summary(label), *content], className="many")


def _choice(name: str, label: str, choices: Mapping[str, str], schema: Schema) -> html.Div:
    """One of several, the default at first."""
    buttons = [dmc.Radio(label=words, value=value, size="xs") for value, words in choices.items()]
    group = dmc.RadioGroup(dmc.Stack(buttons, gap=6), label=label, value=schema["default"], size="xs")
    return wrapped(name, "choice", group)


def _files(name: str, kind: Literal["files", "file"], label: str) -> html.Div:
    upload = dcc.Input(type="file", multiple=kind == "files")
    return wrapped(name, kind, html.Label([html.Span(label), upload], className="files"))


def _hint(words: str) -> html.P:
    return html.P(words, className="hint")
