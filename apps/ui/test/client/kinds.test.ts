import { allKinds, hasUserStatus } from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import { expect, it } from "vitest";
import * as kinds from "../../client/data/kinds.ts";

const { POLICY_KINDS, ...named } = kinds;
const known = new Map(allKinds().map((kind) => [kindKeyOf(kind), kind]));

it.each(Object.entries(named))("names %s as the schemas do", (name, kind) => {
  const defined = known.get(kindKeyOf(kind));
  expect(kind.kind).toBe(name);
  expect(defined).toMatchObject({ apiVersion: kind.apiVersion, kind: kind.kind, plural: kind.plural });
});

it("lists as policies what users write and are answered about", () => {
  const answered = allKinds().filter(hasUserStatus).map(kindKeyOf);
  const listed = POLICY_KINDS.map(kindKeyOf);
  // Settings are of the plane itself.
  const others = answered.filter((key) => !listed.includes(key)).map((key) => key.split("/")[1]);
  expect(listed.every((key) => answered.includes(key))).toBe(true);
  expect(others.sort()).toEqual(["Settings"]);
});
