"""Reach: find the one shortest path from the start to the goal of a graph.

What you see: five to nine nodes of different colours and edges between them. A black dot marks the start, a white
dot the goal. An edge with an arrowhead may be followed only the way it points, others both ways. Edges do not cross.
A bar on the page shows which side is up. The answer is the list of nodes on the shortest path, without the start,
such as ["blue", "green"]. Every puzzle has a path, and one path is shortest, so there is one right answer. A
ground-truth image draws one more edge of the path in another colour.

Levels: level n has n edges on the shortest path and n + 4 nodes, so a model must follow one edge more. At each node
of the path another edge leads elsewhere. From level 2 on, a shorter path or another one of the same length would be
open if arrowheads did not count, so they must be read.

Looks: `plain`, `night` (dark, pale nodes), `tiles` (lilac page, square nodes). Nodes are off the grid in every look.

Corrupt step: the path goes on to another node, perhaps against an arrowhead.

Chance: a random list of one to five different colours is right in about 5 of 1,000 puzzles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from math import cos, hypot, perm, pi, sin
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 4
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "turquoise", "pink", "brown")
_NODE = re.compile(rf"^node: (\w+) row ([1-{SIDE}]) column ([1-{SIDE}])$", re.MULTILINE)
_EDGE = re.compile(r"^(edge|one-way): (\w+) (?:and|to) (\w+)$", re.MULTILINE)
_ENDS = re.compile(r"^path wanted: (\w+) to (\w+)$", re.MULTILINE)
_DRAWN = re.compile(r"^drawn: (\w+(?: \w+)+)$", re.MULTILINE)
_CELLS = [(row, col) for row in range(SIDE) for col in range(SIDE)]
_Point = tuple[float, float]


class Node(NamedTuple):
    colour: str
    at: Position


class Edge(NamedTuple):
    """An edge between two colours. One that goes both ways names the colour first that is first in `COLOURS`."""

    one: str
    other: str
    one_way: bool


@dataclass(frozen=True)
class Graph(Scene):
    """Nodes in the order of their places, edges sorted, and the path drawn so far, which begins with the start."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    goal: str
    path: tuple[str, ...]


class _Look(NamedTuple):
    page: str
    edge: str
    path: str
    nodes: dict[str, str]
    square: bool = False


_VIVID = boards.palette(COLOURS, "#d62424 #2f5be0 #1f9a3c #f5cf2a #8d3bc4 #f58214 #25bcc4 #ff96c8 #84501f")
_PALE = boards.palette(COLOURS, "#ff4a4a #5c8dff #45c765 #ffe94f #b45cff #ff9a2e #5ff0ee #ff94c6 #a0622c")
_LOOKS = {
    "plain": _Look("#e6ecf2", "#8b96a6", "#14161c", _VIVID),
    "night": _Look("#171a2b", "#646d8c", "#ffffff", _PALE),
    "tiles": _Look("#9a94dc", "#4b4680", "#ffffff", _VIVID, square=True),
}
_DOTS = {"start": "#101216", "goal": "#ffffff"}
_MARGIN, _CELL, _JITTER = 0.03, 0.235, 0.02
_RADIUS, _DOT, _LINE = 0.048, 0.023, 0.011
"""Radius of nodes and dots and half the width of edges, as proportions of the image."""
_HEAD = np.array([(-0.03, -0.04), (-0.03, 0.04), (0.032, 0.0)])
"""An arrowhead around the middle of its edge: along it and across."""
_FLANKS = np.array([(-0.018, -0.023), (-0.018, 0.023), (0.018, -0.023), (0.018, 0.023)])
"""Places that an arrowhead covers if it points forwards, then those if it points backwards."""
_LONGEST, _CLEAR, _CLEAR_MIDDLE = 0.56, 0.105, 0.065
"""Of edges: greatest length, distance to other nodes, and distance from the middle of one to another."""
_BAR = (0.3, 0.022, 0.7, 0.044)
_BAR_PLACES = np.array([(0.35, 0.033), (0.5, 0.033), (0.65, 0.033)])
_RING = np.array([(0.033 * cos(n * pi / 4), 0.033 * sin(n * pi / 4)) for n in range(8)])
"""Places of a node around its dot."""
_SURE = 200.0
"""Greatest distance of a dot's colour from that of a start, a goal or its node."""
_ALONG = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)


@lru_cache(maxsize=len(COLOURS) * len(_CELLS))
def _middle(node: Node) -> _Point:
    """Return the place of a node, a little off the middle of its cell; the same for a colour and cell always."""
    dice, (row, col) = Random(f"{node.colour}{node.at}"), node.at
    x, y = (_MARGIN + _CELL * (n + 0.5) + dice.uniform(-_JITTER, _JITTER) for n in (col, row))
    return x, y


def _away(point: _Point, one: _Point, other: _Point) -> float:
    """Return the distance of a point from the line between two others."""
    x, y = other[0] - one[0], other[1] - one[1]
    along = ((point[0] - one[0]) * x + (point[1] - one[1]) * y) / (x * x + y * y)
    along = min(1.0, max(0.0, along))
    return hypot(point[0] - one[0] - along * x, point[1] - one[1] - along * y)


def _cross(a: _Point, b: _Point, c: _Point, d: _Point) -> bool:
    def side(p: _Point, q: _Point, r: _Point) -> bool:
        return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)


@lru_cache(maxsize=1024)
def _possible(nodes: tuple[Node, ...]) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of nodes that an edge may join: near each other, with no other node near the line."""
    places, pairs = np.array([_middle(node) for node in nodes]), list(combinations(range(len(nodes)), 2))
    if not pairs:
        return ()
    one, other = np.array(pairs).T
    line, away = places[other] - places[one], places - places[one][:, None]
    length = np.einsum("ij,ij->i", line, line)
    along = (np.einsum("ikj,ij->ik", away, line) / length[:, None]).clip(0, 1)
    distance = np.linalg.norm(away - along[..., None] * line[:, None], axis=2)
    rows = np.arange(len(pairs))
    distance[rows, one] = distance[rows, other] = 1
    fit = (distance.min(axis=1) >= _CLEAR) & (np.sqrt(length) <= _LONGEST)
    return tuple((nodes[pairs[n][0]], nodes[pairs[n][1]]) for n in np.flatnonzero(fit))


def _are_apart(pair: tuple[Node, Node], other: tuple[Node, Node]) -> bool:
    """Return whether two edges neither cross nor come near each other's middle, where an arrowhead may be."""
    (a, b), (c, d) = map(_middle, pair), map(_middle, other)
    if not set(pair) & set(other) and _cross(a, b, c, d):
        return False
    middles = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), ((c[0] + d[0]) / 2, (c[1] + d[1]) / 2)
    return min(_away(middles[0], c, d), _away(middles[1], a, b)) >= _CLEAR_MIDDLE


def _edge(one: str, other: str, one_way: bool) -> Edge:
    turned = not one_way and COLOURS.index(one) > COLOURS.index(other)
    return Edge(other, one, one_way) if turned else Edge(one, other, one_way)


def _open(edges: Iterable[Edge], arrows_count: bool = True) -> dict[str, list[str]]:
    """Return where each colour's edges lead."""
    ahead: dict[str, list[str]] = {colour: [] for colour in COLOURS}
    for one, other, one_way in edges:
        ahead[one].append(other)
        if not (one_way and arrows_count):
            ahead[other].append(one)
    return ahead


def _paths(ahead: dict[str, list[str]], path: Sequence[str], goal: str) -> list[tuple[str, ...]]:
    """Return all shortest ways to take a path on to the goal that visit no node twice."""
    found, seen = [tuple(path)], set(path)
    while found and not any(way[-1] == goal for way in found):
        found = [(*way, to) for way in found for to in ahead[way[-1]] if to not in seen]
        seen |= {way[-1] for way in found}
    return [way for way in found if way[-1] == goal]


class Reach(StepWorld[Graph]):
    name = "reach"
    about = "Graphs of coloured nodes, some edges one-way, with one shortest path from start to goal."
    palettes = _LOOKS
    chances = tuple(1 / perm(len(COLOURS), level) / len(LEVELS) for level in LEVELS)
    vocabulary = frozenset(COLOURS)
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Graph:
        count = level + 4
        while True:
            nodes = _in_order(map(Node, dice.sample(COLOURS, count), dice.sample(_CELLS, count)))
            pairs, joined = list(_possible(nodes)), list[tuple[Node, Node]]()
            dice.shuffle(pairs)
            for pair in pairs:
                if len(joined) < count + 3 and all(_are_apart(pair, other) for other in joined):
                    joined.append(pair)
            for _ in range(4):
                ends = [dice.sample([one.colour, other.colour], 2) for one, other in joined]
                edges = sorted(_edge(one, other, dice.random() < 0.5) for one, other in ends)
                found = _puzzles([node.colour for node in nodes], edges, level)
                if found:
                    start, goal = dice.choice(found)
                    return Graph(nodes, tuple(edges), goal, (start,), look=look)

    def solve(self, state: Graph) -> list[str]:
        found = _paths(_open(state.edges), state.path, state.goal)
        return list(found[0][len(state.path) :]) if found else []

    def choices(self, state: Graph) -> Sequence[str]:
        """Return where edges lead from the end of the path, those against an arrowhead included."""
        if state.path[-1] == state.goal:
            return []
        ahead = _open(state.edges, arrows_count=False)[state.path[-1]]
        return [colour for colour in ahead if colour not in state.path]

    def legal(self, state: Graph, step: str) -> bool:
        return step in self.choices(state) and step in _open(state.edges)[state.path[-1]]

    def after(self, state: Graph, move: str) -> Graph:
        return replace(state, path=(*state.path, move)) if move in self.choices(state) else state

    def guessed(self, rng: Random) -> list[str]:
        return rng.sample(COLOURS, rng.choice(LEVELS))

    def write(self, state: Graph) -> str:
        nodes = (f"node: {colour} row {row + 1} column {col + 1}" for colour, (row, col) in state.nodes)
        edges = (
            f"one-way: {one} to {other}" if one_way else f"edge: {one} and {other}"
            for one, other, one_way in state.edges
        )
        drawn = [f"drawn: {' '.join(state.path)}"] if len(state.path) > 1 else []
        return "\n".join((*nodes, *edges, f"path wanted: {state.path[0]} to {state.goal}", *drawn))

    def parse(self, text: str) -> Graph | None:
        nodes = [Node(colour, (int(row) - 1, int(col) - 1)) for colour, row, col in _NODE.findall(text)]
        edges = [(one, other, kind == "one-way") for kind, one, other in _EDGE.findall(text)]
        ends, drawn, known = _ENDS.findall(text), _DRAWN.findall(text), {node.colour for node in nodes}
        if len(ends) != 1 or len(drawn) > 1 or not known <= set(COLOURS):
            return None
        if not {*ends[0], *(end for edge in edges for end in edge[:2])} <= known:
            return None
        path = drawn[0].split() if drawn else ends[0][:1]
        return _graph(nodes, [_edge(*edge) for edge in edges], ends[0][1], path) if path[0] == ends[0][0] else None

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Graph, size: int) -> None:
        look = _LOOKS[state.look or "plain"]
        nodes = {node.colour: node for node in state.nodes}
        walked = {frozenset(pair) for pair in pairwise(state.path)}

        def around(middle: _Point, radius: float) -> list[float]:
            return [size * (at + sign * radius) for sign in (-1, 1) for at in middle]

        pen.rectangle([at * size for at in _BAR], fill=look.edge)
        for one, other, one_way in state.edges:
            fill = look.path if {one, other} in walked else look.edge
            line, head = _shapes(nodes[one], nodes[other])
            pen.polygon((line * size).ravel().tolist(), fill=fill)
            if one_way:
                pen.polygon((head * size).ravel().tolist(), fill=fill)
        for node in state.nodes:
            middle, fill = _middle(node), look.nodes[node.colour]
            shape = pen.rectangle if look.square else pen.ellipse
            shape(around(middle, _RADIUS), fill=boards.mixed(fill, "#000000", 0.4))
            shape(around(middle, _RADIUS - 0.005), fill=fill)
            for mark, at in (("start", state.path[0]), ("goal", state.goal)):
                if node.colour == at:
                    pen.ellipse(around(middle, _DOT), fill=_DOTS[mark])

    def see(self, values: Values, name: str) -> Graph | None:
        look = _LOOKS[name]
        lines = {"page": look.page, "edge": look.edge, "path": look.path}
        if set(boards.named(boards.colours_at(values, _BAR_PLACES, 0.004), lines)) != {"edge"}:
            return None
        nodes = _nodes_in(values, look)
        possible = _possible(nodes)
        if not possible:
            return None
        dots = boards.colours_at(values, [_middle(node) for node in nodes], 0.008)
        own = np.linalg.norm(dots - boards.rgb8(*(look.nodes[node.colour] for node in nodes)), axis=1)
        away = np.column_stack([boards.apart(dots, *_DOTS.values()), own])
        shown = np.where(away.min(axis=1) <= _SURE, away.argmin(axis=1), len(_DOTS)).tolist()
        starts, goals = (
            [nodes[n].colour for n, dot in enumerate(shown) if dot == mark] for mark in range(len(_DOTS))
        )
        if len(starts) != 1 or len(goals) != 1:
            return None
        (start,), (goal,) = starts, goals
        edges, walked = list[Edge](), list[set[str]]()
        all_seen = boards.named(boards.colours_at(values, _looked_at(possible), 0.004), lines, most=150)
        each = len(_ALONG) + len(_FLANKS)
        for number, (one, other) in enumerate(possible):
            seen = all_seen[number * each : (number + 1) * each]
            kind, flanks = seen[0], [name != "page" for name in seen[len(_ALONG) :]]
            if kind not in ("edge", "path") or set(seen[: len(_ALONG)]) != {kind}:
                continue
            pair = (one.colour, other.colour) if flanks[0] else (other.colour, one.colour)
            edges.append(_edge(*pair, any(flanks)))
            walked += [{*pair}] if kind == "path" else []
        path = [start]
        while ahead := [pair for pair in walked if path[-1] in pair]:
            path += ahead[0] - {path[-1]}
            walked.remove(ahead[0])
        return None if walked else _graph(nodes, edges, goal, path)


def _puzzles(colours: Sequence[str], edges: Sequence[Edge], level: int) -> list[tuple[str, str]]:
    """Return the starts and goals with one shortest path of `level` edges, which has a fork at each node. From level
    2 on it is not the one shortest path of the same graph without arrowheads."""
    ahead, both_ways, found = _open(edges), _open(edges, arrows_count=False), []
    for start in colours:
        for goal in colours:
            paths = _paths(ahead, [start], goal) if start != goal else []
            if len(paths) != 1 or len(paths[0]) != level + 1:
                continue
            (path,) = paths
            forks = all(set(both_ways[at]) - {*path[: n + 2]} for n, at in enumerate(path[:-1]))
            if forks and (level == 1 or _paths(both_ways, [start], goal) != paths):
                found.append((start, goal))
    return found


def _beside(one: Node, other: Node, places: Places) -> Places:
    """Places along and across an edge, from its middle → proportions of the image."""
    a, b = np.array(_middle(one)), np.array(_middle(other))
    x, y = (b - a) / np.linalg.norm(b - a)
    found: Places = (a + b) / 2 + places @ np.array([(x, y), (-y, x)])
    return found


_ENDS_OF_LINE = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)])


@lru_cache(maxsize=2048)
def _shapes(one: Node, other: Node) -> tuple[Places, Places]:
    """Return the corners of an edge and of its arrowhead."""
    a, b = _middle(one), _middle(other)
    half = hypot(a[0] - b[0], a[1] - b[1]) / 2
    return _beside(one, other, _ENDS_OF_LINE * (half, _LINE)), _beside(one, other, _HEAD)


def _looked_at(pairs: Sequence[tuple[Node, Node]]) -> Places:
    """Return the places that tell edges: for each some along it, and some beside its middle."""
    ends = np.array([[_middle(one), _middle(other)] for one, other in pairs])
    line, middles = ends[:, 1] - ends[:, 0], ends.mean(axis=1)
    length = np.linalg.norm(line, axis=1)
    ahead = line / length[:, None]
    frames = np.stack([ahead, ahead[:, ::-1] * (-1, 1)], axis=1)
    along = (length / 2 - _RADIUS - 0.02)[:, None, None] * [(at, 0.0) for at in _ALONG]
    across = np.broadcast_to(_FLANKS, (len(pairs), *_FLANKS.shape))
    found: Places = middles[:, None] + np.concatenate([along, across], axis=1) @ frames
    return found.reshape(-1, 2)


_ANY_NODE = [Node(colour, cell) for cell in _CELLS for colour in COLOURS]
_ANY_RING = np.concatenate([_middle(node) + _RING for node in _ANY_NODE])
_ANY_COLOUR = np.array([[COLOURS.index(node.colour)] for node in _ANY_NODE])
_NEAR = 90.0
"""Greatest distance of a node's colour from what is seen."""


def _nodes_in(values: Values, look: _Look) -> tuple[Node, ...]:
    """Return the nodes in an image: those whose colour is all around the place where they would be."""
    others = {"page": look.page, "edge": look.edge, "path": look.path, **_DOTS}
    away = boards.apart(boards.colours_at(values, _ANY_RING, 0), *look.nodes.values(), *others.values())
    nearest = np.where(away.min(axis=1) <= _NEAR, away.argmin(axis=1), -1).reshape(-1, len(_RING))
    count = np.count_nonzero(nearest == _ANY_COLOUR, axis=1)
    return tuple(_ANY_NODE[n] for n in np.flatnonzero(count >= len(_RING) - 2))


def _in_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.at))


def _graph(nodes: Sequence[Node], edges: Sequence[Edge], goal: str, path: Sequence[str]) -> Graph | None:
    """Return a scene; None if a node or edge is there twice, cannot be drawn, or the path is none of the edges."""
    if min(len({node.colour for node in nodes}), len({node.at for node in nodes})) < len(nodes):
        return None
    joined = {frozenset(edge[:2]) for edge in edges}
    possible = {frozenset((one.colour, other.colour)) for one, other in _possible(_in_order(nodes))}
    walked = [frozenset(pair) for pair in pairwise(path)]
    if len(joined) < len(edges) or not joined <= possible or not {*walked} <= joined or goal in path[:-1]:
        return None
    if len(set(path)) < len(path):
        return None
    return Graph(_in_order(nodes), tuple(sorted(edges)), goal, tuple(path))


WORLD = Reach().world(__doc__ or "")
