import { expect, test } from "vitest";
import { registryUserIn } from "../src/wasm/registryUsers.ts";

const config = (auths: object) => JSON.stringify({ auths });
const auth = (text: string) => ({ auth: Buffer.from(text).toString("base64") });
const USER = { username: "robot", password: "a:b" };

test("a user of a registry is found by its host alone", () => {
  const text = config({ "registry.test:5000": auth("robot:a:b"), "https://other.test": { username: "robot", password: "a:b" } });
  expect(registryUserIn(text, "registry.test:5000")).toEqual(USER);
  expect(registryUserIn(text, "other.test")).toEqual(USER);
  for (const host of ["registry.test", "registry.test:50001", "est:5000", ""]) expect(registryUserIn(text, host)).toBeUndefined();
});

test.each([
  ["no JSON", "{"],
  ["another form", "[]"],
  ["no user in it", config({ __proto__: auth("robot:word") })],
  ["something else for an entry", config({ "registry.test": "robot" })],
  ["no colon", config({ "registry.test": auth("robot") })],
  ["an empty user", config({ "registry.test": auth(":word") })],
  ["a user of another type", config({ "registry.test": { username: 1, password: "word" } })],
  ["too much of it", config({ "registry.test": auth("robot:word"), other: "x".repeat(1024 * 1024) })],
])("a text with %s has none", (_, text) => {
  expect(registryUserIn(text, "registry.test")).toBeUndefined();
  expect(registryUserIn(text, "__proto__")).toBeUndefined();
});
