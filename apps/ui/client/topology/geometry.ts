import type { Node } from "@xyflow/react";

/** A rectangle of a drawing, in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The line of an edge: from the first to the last point, drawn to the two between them. */
export type Curve = readonly [Point, Point, Point, Point];

/** Where nodes are in the whole drawing, by id. Boxes come before what is in them. */
export function absoluteBoxes(nodes: readonly Node[]): ReadonlyMap<string, Box> {
  const places = new Map<string, Box>();
  for (const { id, parentId, position, width = 0, height = 0 } of nodes) {
    const { x = 0, y = 0 } = places.get(parentId ?? "") ?? {};
    places.set(id, { x: x + position.x, y: y + position.y, width, height });
  }
  return places;
}

/** The line from the right side of one box to the left side of another, or from the bottom of one to the top of the other. */
export function curveBetween(from: Box, to: Box, isDown: boolean): Curve {
  return isDown
    ? curve({ x: from.x + from.width / 2, y: from.y + from.height }, { x: to.x + to.width / 2, y: to.y }, true)
    : curve({ x: from.x + from.width, y: from.y + from.height / 2 }, { x: to.x, y: to.y + to.height / 2 }, false);
}

/** A line that leaves and arrives to the right, or downwards. */
export function curve(start: Point, end: Point, isDown: boolean): Curve {
  const way = isDown ? end.y - start.y : end.x - start.x;
  // Back to where it came from, it turns close to both ends.
  const bend = way >= 0 ? way / 2 : TURN * Math.sqrt(-way);
  return isDown
    ? [start, { x: start.x, y: start.y + bend }, { x: end.x, y: end.y - bend }, end]
    : [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}

/** The point of a line at a part of it: 0 is its start, 1 its end. */
export function pointOn([a, b, c, d]: Curve, part: number): Point {
  const rest = 1 - part;
  const [wa, wb, wc, wd] = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  return { x: wa * a.x + wb * b.x + wc * c.x + wd * d.x, y: wa * a.y + wb * b.y + wc * c.y + wd * d.y };
}

/** A line as SVG has it. */
export function pathOf([a, b, c, d]: Curve): string {
  return `M ${pair(a)} C ${pair(b)} ${pair(c)} ${pair(d)}`;
}

function pair({ x, y }: Point): string {
  return `${rounded(x)} ${rounded(y)}`;
}

/** As exact as a screen shows. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

const TURN = 6.25;
