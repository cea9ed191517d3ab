"""Parameters of functions from debug information: which register each arrives in, and how it may be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from elftools.common.exceptions import DWARFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile
from pydantic import Field

from bot.adapters.profilers.evidence import open_file, readable_by, told
from bot.adapters.profilers.native.names import tidy
from bot.adapters.profilers.native.objects import DAMAGED, LARGEST
from bot.model.profiles import Target

REGISTERS = 6
"""That whole numbers and pointers arrive in (System V ABI for x86-64, section 3.2.3)."""
MOST_ENTRIES = 400_000
"""Entries of debug information that are looked at: about four seconds."""
DEEPEST_TYPE = 20
SMALL = 1000
"""Numbers up to here are told; of larger ones only how large they are."""

_INTEGERS, _SIGNED = {0x02, 0x05, 0x07}, {0x05}  # DW_ATE_boolean, DW_ATE_signed, DW_ATE_unsigned
_FLOAT = 0x04
_PASSING = {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_atomic_type"}
_POINTERS = {"DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"}


class Parameter(NamedTuple):
    """register: its number, or None (it arrives elsewhere). bytes: of a number; 0: only its kind is told."""

    name: str
    kind: str
    register: Annotated[int, Field(ge=0, lt=REGISTERS)] | None = None
    bytes: Annotated[int, Field(ge=0, le=8)] = 0
    signed: bool = False

    def told(self, registers: Sequence[int]) -> str:
        """`n=int 7`, `size=unsigned long ~2^20`, `p=pointer`: type and magnitude, nothing of the contents."""
        shown = f"{self.name}={self.kind}"
        if self.register is None:
            return shown
        value = registers[self.register]
        if self.kind == "pointer":
            return shown if value else f"{self.name}=null"
        if not self.bytes:
            return shown
        value &= (1 << 8 * self.bytes) - 1
        if self.signed and value >> (8 * self.bytes - 1):
            value -= 1 << 8 * self.bytes
        return f"{shown} {value}" if -SMALL < value < SMALL else f"{shown} ~2^{value.bit_length()}"


def signatures(path: Path, starts: Iterable[int]) -> Mapping[int, Sequence[Parameter]]:
    """Parameters of the functions that begin at these addresses, as far as debug information knows them."""
    found: dict[int, Sequence[Parameter]] = {}
    wanted = set(starts)
    try:
        with open_file(path, most=LARGEST, links=True) as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info():
                return {}
            for entry in _functions(elf.get_dwarf_info(), wanted):
                start = entry.attributes["DW_AT_low_pc"].value
                parameters = _parameters(entry)
                if parameters is not None:
                    found[start] = parameters
                wanted.discard(start)
                if not wanted:
                    break
    except (*DAMAGED, DWARFError, RecursionError, MemoryError):
        pass  # what was read before the damage holds
    return found


def signatures_of(target: Target, path: Path, starts: Iterable[int]) -> Mapping[int, Sequence[Parameter]]:
    """The same, read where it does no harm: debug information can be made to hurt."""
    try:
        found = told(target, tell_signatures, path, list(starts), files=readable_by(target))
    except OSError:
        return {}
    return dict(found)


def tell_signatures(path: Path, starts: list[int]) -> list[tuple[int, list[Parameter]]]:
    """A reader: what `signatures` finds."""
    return [(start, list(parameters)) for start, parameters in signatures(path, starts).items()]


def _functions(dwarf: DWARFInfo, wanted: set[int]) -> Iterator[DIE]:
    """Entries of the functions that begin at wanted addresses."""
    left = MOST_ENTRIES
    for unit in _units(dwarf, wanted):
        for entry in unit.iter_DIEs():
            left -= 1
            if left < 0:
                return
            low = entry.attributes.get("DW_AT_low_pc")
            if entry.tag == "DW_TAG_subprogram" and low is not None and low.value in wanted:
                yield entry


def _units(dwarf: DWARFInfo, wanted: set[int]) -> Iterator[CompileUnit]:
    """Compilation units that hold the addresses; all, where there is no index of them."""
    index = dwarf.get_aranges()
    if index is None:
        yield from dwarf.iter_CUs()
        return
    offsets = {index.cu_offset_at_addr(address) for address in wanted}
    for offset in sorted(offset for offset in offsets if offset is not None):
        yield dwarf.get_CU_at(offset)


def _parameters(function: DIE) -> Sequence[Parameter] | None:
    """None: some value or the result is passed in a way that shifts the registers of others."""
    result = _type(_meant(function))
    if result is not None and _core(result).tag not in {
        "DW_TAG_base_type",
        "DW_TAG_enumeration_type",
        *_POINTERS,
    }:
        return None
    parameters: list[Parameter] = []
    register = 0
    for child in function.iter_children():
        if child.tag != "DW_TAG_formal_parameter":
            continue
        declared = _type(child)
        if declared is None:
            return None
        parameter = _parameter(_name(child), declared)
        if parameter is None:
            return None
        if parameter.kind not in ("float", "double"):
            arrived = register if register < REGISTERS else None
            parameter, register = parameter._replace(register=arrived), register + 1
        parameters.append(parameter)
    return parameters


def _parameter(name: str, declared: DIE) -> Parameter | None:
    core = _core(declared)
    size = core.attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in core.attributes else 8
    if core.tag in _POINTERS:
        return Parameter(name, "pointer")
    if core.tag == "DW_TAG_enumeration_type":
        return Parameter(name, "enum", bytes=min(size, 8))
    if core.tag != "DW_TAG_base_type" or size > 8:
        return None
    encoding = core.attributes["DW_AT_encoding"].value
    if encoding == _FLOAT:
        return Parameter(name, "float" if size == 4 else "double")
    # Characters are contents, not sizes.
    kind = tidy(core.attributes["DW_AT_name"].value.decode("utf-8", "replace"))
    return Parameter(name, kind, bytes=size if encoding in _INTEGERS else 0, signed=encoding in _SIGNED)


def _core(declared: DIE) -> DIE:
    """A type without typedefs and qualifiers."""
    for _ in range(DEEPEST_TYPE):
        inner = _type(declared) if declared.tag in _PASSING else None
        if inner is None:
            break
        declared = inner
    return declared


def _meant(entry: DIE) -> DIE:
    """What an entry stands for: the abstract function or parameter, or the declaration in a class."""
    for _ in range(DEEPEST_TYPE):
        link = next(
            (k for k in ("DW_AT_abstract_origin", "DW_AT_specification") if k in entry.attributes), None
        )
        if link is None:
            break
        entry = entry.get_DIE_from_attribute(link)
    return entry


def _type(entry: DIE) -> DIE | None:
    meant = entry if "DW_AT_type" in entry.attributes else _meant(entry)
    return meant.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in meant.attributes else None


def _name(entry: DIE) -> str:
    name = _meant(entry).attributes.get("DW_AT_name")
    return "_" if name is None else tidy(name.value.decode("utf-8", "replace"))
