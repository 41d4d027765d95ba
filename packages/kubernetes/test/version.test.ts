import { expect, it } from "vitest";
import { versionIn } from "../src/apiServer.ts";

it.each([
  [{ gitVersion: "v1.34.2", major: "1", minor: "34" }, "v1.34.2"],
  [{ gitVersion: "v1.31.2-gke.1", major: "1", minor: "31+" }, "v1.31.2-gke.1"],
  [{ gitVersion: "v0.0.0-master+$Format:%H$", major: "1", minor: "34" }, "v1.34.0"],
  [{ gitVersion: "v0.0.0-master", major: "1", minor: "33+" }, "v1.33.0"],
  [{ gitVersion: "v0.0.0-master", major: "", minor: "" }, "v0.0.0-master"],
  [{ major: 1 }, "unknown"],
  [null, "unknown"],
])("reads %j as %s", (said, version) => {
  expect(versionIn(said)).toBe(version);
});
