import { visibleText } from "../model/visibleText.ts";
import { t } from "../strings.ts";
import { aboutNode, boxName } from "./boxes.ts";
import type { BoxData, Drawing, ServiceData } from "./drawing.ts";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

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
  const places = new Map<string, Box>();
  // Clusters come before what is in them.
  for (const { id, parentId, position, width = 0, height = 0 } of nodes) {
    const { x = 0, y = 0 } = places.get(parentId ?? "") ?? {};
    places.set(id, { x: x + position.x, y: y + position.y, width, height });
  }
  const all = [...places.values()];
  const [left, top] = [Math.min(...all.map(({ x }) => x), 0) - MARGIN, Math.min(...all.map(({ y }) => y), 0) - MARGIN];
  const width = Math.max(...all.map((box) => box.x + box.width), 0) - left + MARGIN;
  const height = Math.max(...all.map((box) => box.y + box.height), 0) - top + MARGIN + LEGEND_PX;
  const boxes = nodes.map(({ id, type, data }) => boxText(places.get(id), type, data));
  const lines = edges.map(({ source, target, sourceHandle, className = "", label }) =>
    lineText({ from: places.get(source), to: places.get(target), isDown: sourceHandle === "bottom", type: typeOf(className), label }),
  );
  const legend = [...EDGES].map(([type, { color, dashes }], i) => {
    const [x, y] = [left + MARGIN + i * 130, top + height - 18];
    return `${line(`M ${x} ${y} h 28`, color, dashes)}${text(t.topology.edges[type as keyof typeof t.topology.edges], x + 36, y + 4, 12)}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${numbers(left, top, width, height)}" width="${round(width)}" height="${round(height)}" font-family="sans-serif">`,
    `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="#ffffff"/>`,
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
  const rect = `<rect x="${round(box.x)}" y="${round(box.y)}" width="${round(box.width)}" height="${round(box.height)}" rx="${isBox ? 10 : 5}" fill="${fill}" stroke="${isBox ? "#d5dae2" : "#868f9b"}"${isOffline ? ' stroke-dasharray="6 5" stroke-width="2"' : ""}/>`;
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
}

function lineText({ from, to, isDown, type, label }: Line): string {
  if (from === undefined || to === undefined) return "";
  const { color = "#868f9b", dashes = "" } = EDGES.get(type) ?? {};
  const [x1, y1] = isDown ? [from.x + from.width / 2, from.y + from.height] : [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = isDown ? [to.x + to.width / 2, to.y] : [to.x, to.y + to.height / 2];
  const bend = Math.max(40, Math.abs(isDown ? y2 - y1 : x2 - x1) / 2);
  const controls = isDown ? numbers(x1, y1 + bend, x2, y2 - bend) : numbers(x1 + bend, y1, x2 - bend, y2);
  const isArrow = type !== "federation";
  const arrow = isArrow ? `<path d="M ${numbers(x2, y2)} l -9 -4.5 v 9 z" fill="${color}"/>` : "";
  const words = typeof label === "string" && label !== "" ? text(cut(label, LONGEST_LABEL), (x1 + x2) / 2, (y1 + y2) / 2 - 5, 11) : "";
  return `${line(`M ${numbers(x1, y1)} C ${controls} ${numbers(x2, y2)}`, color, dashes)}${arrow}${words}`;
}

function line(path: string, color: string, dashes: string): string {
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.6"${dashes === "" ? "" : ` stroke-dasharray="${dashes}"`}/>`;
}

function text(words: string, x: number, y: number, size: number, weight = "normal"): string {
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" font-weight="${weight}" fill="#1a2029">${escaped(words)}</text>`;
}

function typeOf(className: string): string {
  return className.split(" ").find((name) => EDGES.has(name)) ?? "";
}

function cut(words: string, most: number): string {
  const visible = visibleText(words.slice(0, LONGEST_TITLE));
  return visible.length > most ? `${visible.slice(0, most - 1)}…` : visible;
}

function numbers(...all: readonly number[]): string {
  return all.map(round).join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
