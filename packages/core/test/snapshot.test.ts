import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  emptySnapshot,
  type Index,
  InvalidResource,
  type Kind,
  mergeSnapshots,
  type Resource,
  refOf,
  runToCompletion,
  snapshotOf,
} from "../src/index.ts";

interface Widget extends Resource {
  readonly spec: { readonly colour: string };
}
const Widget: Kind<Widget> = {
  apiVersion: "example.com/v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
  versions: ["example.com/v1"],
  parse(input) {
    if (typeof input !== "object") throw new InvalidResource("Widget", "", "is no object");
    return input as Widget;
  },
};
const byColour: Index<Widget> = ({ spec }) => [spec.colour];

function widget(name: string, colour: string, clusterName?: string): Widget {
  const metadata = { name, namespace: "n", ...(clusterName === undefined ? {} : { clusterName }) };
  return { apiVersion: "example.com/v1", kind: "Widget", metadata, spec: { colour } };
}

const widgets = fc.array(
  fc.record({ name: fc.constantFrom("a", "b", "c", "d"), colour: fc.constantFrom("red", "green"), gone: fc.boolean() }),
  {
    maxLength: 8,
  },
);

describe("snapshot", () => {
  it("applies deltas as a map would, and its indexes follow", () => {
    fc.assert(
      fc.property(fc.array(widgets, { maxLength: 8 }), (steps) => {
        let snapshot = emptySnapshot();
        const model = new Map<string, Widget>();
        for (const step of steps) {
          const put = step.filter(({ gone }) => !gone).map(({ name, colour }) => widget(name, colour));
          const remove = step.filter(({ gone }) => gone).map(({ name }) => refOf(widget(name, "red")));
          for (const resource of put) model.set(resource.metadata.name, resource);
          for (const { name } of remove) model.delete(name);
          snapshot = snapshot.apply({ put, remove });
          const sorted = [...model.values()].sort((x, y) => (x.metadata.name < y.metadata.name ? -1 : 1));
          expect([...snapshot.of(Widget)]).toEqual(sorted);
          for (const colour of ["red", "green"]) {
            expect(snapshot.of(Widget).where(byColour, colour)).toEqual(sorted.filter(({ spec }) => spec.colour === colour));
          }
        }
      }),
    );
  });

  it("is joined by many at once as by one after the other: what comes last wins", () => {
    fc.assert(
      fc.property(fc.array(widgets, { maxLength: 5 }), (parts) => {
        const [first = emptySnapshot(), ...others] = parts.map((part) => snapshotOf(part.map(({ name, colour }) => widget(name, colour))));
        const inTurn = others.reduce((snapshot, other) => {
          const put = [...other.collections().values()].flatMap((collection) => [...collection]);
          return snapshot.apply({ put, remove: [] });
        }, first);
        const atOnce = runToCompletion(mergeSnapshots(first, others));
        expect([...atOnce.of(Widget).entries()]).toEqual([...inTurn.of(Widget).entries()]);
      }),
    );
  });

  it("shares what did not change", () => {
    const one = snapshotOf([widget("a", "red")]);
    expect(one.apply({ put: [], remove: [refOf(widget("b", "red"))] })).toBe(one);
    const [known] = one.of(Widget);
    expect(known && one.apply({ put: [known], remove: [] })).toBe(one);
    const other = one.apply({ put: [{ ...widget("x", "red"), kind: "Gadget" }], remove: [] });
    expect(other.of(Widget)).toBe(one.of(Widget));
  });

  it("finds an object whatever version of its group it was read in", () => {
    const old = { ...widget("a", "red"), apiVersion: "example.com/v1beta1" };
    const snapshot = snapshotOf([old]);
    expect(snapshot.of(Widget).get({ name: "a", namespace: "n", clusterName: "" })).toBe(old);
    expect(snapshot.apply({ put: [], remove: [refOf(widget("a", "red"))] }).of(Widget).size).toBe(0);
  });

  it("keeps objects of one name in different clusters apart", () => {
    const snapshot = snapshotOf([widget("a", "red", "east"), widget("a", "green", "west")]);
    expect(snapshot.of(Widget).get({ name: "a", namespace: "n", clusterName: "west" })?.spec.colour).toBe("green");
  });
});
