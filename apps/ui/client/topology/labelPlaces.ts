import { boxName } from "./boxes.ts";
import type { BoxData, Drawing } from "./drawing.ts";
import { absoluteBoxes, type Box, curveBetween, type Point, pointOn } from "./geometry.ts";

/** The lines in which the label of an edge is written: one for each figure, so that it fits between two services. */
export function labelLines(label: string): readonly string[] {
  return label.split(" · ");
}

/** How large the label of an edge is, with a margin. */
export function labelSize(label: string): Pick<Box, "width" | "height"> {
  const lines = labelLines(label);
  return { width: Math.max(...lines.map(({ length }) => length)) * CHARACTER_PX + 8, height: lines.length * LINE_PX + 4 };
}

/**
 * Where the middle of each label is, by the id of its edge: on its line, as near to the middle as it can be without covering a service, the name of a
 * box or an earlier label; beside its line where that is not possible.
 */
export function labelPlaces({ nodes, edges }: Drawing): ReadonlyMap<string, Point> {
  const boxes = absoluteBoxes(nodes);
  const covered = nodes.flatMap(({ id, type, data }) => {
    const box = boxes.get(id);
    return box === undefined ? [] : [type === "box" ? titleOf(box, data as BoxData) : grown(box)];
  });
  const labels: Box[] = [];
  const places = new Map<string, Point>();
  for (const { id, source, target, sourceHandle, label } of edges) {
    const [from, to] = [boxes.get(source), boxes.get(target)];
    if (typeof label !== "string" || label === "" || from === undefined || to === undefined) continue;
    const size = labelSize(label);
    const line = curveBetween(from, to, sourceHandle === "bottom");
    const candidates = ASIDE.flatMap((aside) =>
      PARTS.map((part) => {
        const { x, y } = pointOn(line, part);
        return { x, y: y + aside * size.height };
      }),
    );
    const isFree = (point: Point, others: readonly Box[]) => !others.some((other) => overlap(around(point, size), other));
    const clear = candidates.filter((point) => isFree(point, covered));
    const place = clear.find((point) => isFree(point, labels)) ?? clear[0] ?? pointOn(line, 0.5);
    places.set(id, place);
    labels.push(around(place, size));
  }
  return places;
}

/** The rectangle of a size around a point. */
export function around({ x, y }: Point, { width, height }: Pick<Box, "width" | "height">): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Whether two rectangles have more than a border in common. */
export function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** A service with what is drawn over its border: its insights, and the point of an arrow. */
function grown({ x, y, width, height }: Box): Box {
  return { x: x - 2, y: y - BADGE_PX, width: width + 4, height: height + BADGE_PX + 2 };
}

function titleOf({ x, y }: Box, data: BoxData): Box {
  return { x, y, width: 24 + boxName(data).length * TITLE_CHARACTER_PX, height: 32 };
}

// From the middle outwards.
const PARTS = [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.14, 0.86] as const;
// In heights of the label, above before below.
const ASIDE = [0, -0.6, 0.6, -1.2, 1.2, -1.8, 1.8] as const;
// Of a wide font of 11 pixels, and of 14 pixels in bold.
const [CHARACTER_PX, TITLE_CHARACTER_PX] = [6.4, 9];
export const LINE_PX = 13;
const BADGE_PX = 10;
