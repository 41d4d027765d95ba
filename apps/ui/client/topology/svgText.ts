import { visibleText } from "../model/lines/visibleText.ts";
import { t } from "../strings.ts";
import { aboutNode, boxName } from "./boxes.ts";
import type { BoxData, Drawing, ServiceData } from "./drawing.ts";
import { absoluteBoxes, type Box, curveBetween, type Point, pathOf, pointOn, rounded } from "./geometry.ts";
import { LINE_PX, labelLines } from "./labelPlaces.ts";

// Those of the light theme, as a file has no theme; the pattern says the type as well.
const EDGES: ReadonlyMap<string, { readonly color: string; readonly dashes: string }> = new Map([
  ["route", { color: "#0b5cad", dashes: "" }],
  ["mirror", { color: "#1a2029", dashes: "10 3 2 3" }],
  ["access", { color: "#16703a", dashes: "6 4" }],
  ["federation", { color: "#868f9b", dashes: "2 4" }],
  ["traffic", { color: "#5a6472", dashes: "" }],
]);
const [MARGIN, LEGEND_PX] = [24, 34];
// As many as fit into a box.
const LONGEST = 22;
const LONGEST_LABEL = 44;
const LONGEST_TITLE = 200;

/** A drawing as an SVG file: no script, no style, nothing from elsewhere; names of others are text. */
export function svgText({ nodes, edges }: Drawing): string {
  const places = absoluteBoxes(nodes);
  const all = [...places.values()];
  const [left, top] = [Math.min(...all.map(({ x }) => x), 0) - MARGIN, Math.min(...all.map(({ y }) => y), 0) - MARGIN];
  const width = Math.max(...all.map((box) => box.x + box.width), 0) - left + MARGIN;
  const height = Math.max(...all.map((box) => box.y + box.height), 0) - top + MARGIN + LEGEND_PX;
  const boxes = nodes.map(({ id, type, data }) => boxText(places.get(id), type, data));
  const lines = edges.map(({ source, target, sourceHandle, className = "", label, data }) =>
    lineText({
      from: places.get(source),
      to: places.get(target),
      isDown: sourceHandle === "bottom",
      type: typeOf(className),
      label,
      at: data?.["at"] as Point | undefined,
    }),
  );
  const legend = [...EDGES].map(([type, { color, dashes }], i) => {
    const [x, y] = [left + MARGIN + i * 130, top + height - 18];
    return `${line(`M ${x} ${y} h 28`, color, dashes)}${text(t.topology.edges[type as keyof typeof t.topology.edges], x + 36, y + 4, 12)}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${numbers(left, top, width, height)}" width="${rounded(width)}" height="${rounded(height)}" font-family="sans-serif">`,
    `<rect x="${rounded(left)}" y="${rounded(top)}" width="${rounded(width)}" height="${rounded(height)}" fill="#ffffff"/>`,
    ...boxes.filter(({ isBehind }) => isBehind).map((box) => box.text),
    ...lines,
    ...boxes.filter(({ isBehind }) => !isBehind).map((box) => box.text),
    ...legend,
    "</svg>",
    "",
  ].join("\n");
}

function boxText(
  box: Box | undefined,
  type: string | undefined,
  data: Record<string, unknown>,
): { readonly isBehind: boolean; readonly text: string } {
  if (box === undefined) return { isBehind: true, text: "" };
  const isBox = type === "box";
  const { kind } = data as BoxData;
  const { node, place = "" } = data as ServiceData;
  const { note } = data as BoxData;
  const isOffline = isBox && note !== undefined;
  const [name, more] = isBox
    ? [[boxName(data as BoxData), ...(isOffline ? [note] : [])].join(" · "), ""]
    : [node?.name ?? "", node === undefined ? "" : aboutNode(node, place)];
  const fill = isBox && kind !== "namespace" ? "#f4f6f9" : "#ffffff";
  const rect = `<rect x="${rounded(box.x)}" y="${rounded(box.y)}" width="${rounded(box.width)}" height="${rounded(box.height)}" rx="${isBox ? 10 : 5}" fill="${fill}" stroke="${isBox ? "#d5dae2" : "#868f9b"}"${isOffline ? ' stroke-dasharray="6 5" stroke-width="2"' : ""}/>`;
  const title = `<title>${escaped(cut(node === undefined || isBox ? name : `${node.namespace}/${name}`, LONGEST_TITLE))}</title>`;
  const words = isBox
    ? text(cut(name, 2 * LONGEST), box.x + 18, box.y + 24, 14, "bold")
    : `${text(cut(name, LONGEST), box.x + 10, box.y + 20, 13)}${text(cut(more, LONGEST), box.x + 10, box.y + 36, 11)}`;
  return { isBehind: isBox, text: `<g>${title}${rect}${words}</g>` };
}

interface Line {
  readonly from: Box | undefined;
  readonly to: Box | undefined;
  /** From the bottom of one box to the top of the other. */
  readonly isDown: boolean;
  readonly type: string;
  readonly label: unknown;
  /** The middle of the label; undefined: that of the line. */
  readonly at: Point | undefined;
}

function lineText({ from, to, isDown, type, label, at }: Line): string {
  if (from === undefined || to === undefined) return "";
  const { color = "#868f9b", dashes = "" } = EDGES.get(type) ?? {};
  const curve = curveBetween(from, to, isDown);
  const [, , , { x: endX, y: endY }] = curve;
  const isArrow = type !== "federation";
  const arrow = isArrow ? `<path d="M ${numbers(endX, endY)} l -9 -4.5 v 9 z" fill="${color}"/>` : "";
  const words = typeof label === "string" && label !== "" ? labelText(cut(label, LONGEST_LABEL), at ?? pointOn(curve, 0.5)) : "";
  return `${line(pathOf(curve), color, dashes)}${arrow}${words}`;
}

/** One figure below the other, around a point. */
function labelText(label: string, { x, y }: Point): string {
  const lines = labelLines(label);
  return lines.map((words, i) => text(words, x, y + LINE_PX * (i + 0.85 - lines.length / 2), 11, "normal", "middle")).join("");
}

function line(path: string, color: string, dashes: string): string {
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.6"${dashes === "" ? "" : ` stroke-dasharray="${dashes}"`}/>`;
}

function text(words: string, x: number, y: number, size: number, weight = "normal", anchor = "start"): string {
  return `<text x="${rounded(x)}" y="${rounded(y)}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`} font-size="${size}" font-weight="${weight}" fill="#1a2029">${escaped(words)}</text>`;
}

function typeOf(className: string): string {
  return className.split(" ").find((name) => EDGES.has(name)) ?? "";
}

function cut(words: string, most: number): string {
  const visible = visibleText(words.slice(0, LONGEST_TITLE));
  return visible.length > most ? `${visible.slice(0, most - 1)}…` : visible;
}

function numbers(...all: readonly number[]): string {
  return all.map(rounded).join(" ");
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
