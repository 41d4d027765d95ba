import { readdirSync } from "node:fs";
import { describeGolden } from "@isthmus/testing";
import { translateDiscovery } from "../src/discovery/discovery.ts";
import { translateNetworking } from "./translateNetworking.ts";

const testdata = new URL("../testdata/", import.meta.url);
const defaults = { namespace: "gloo-mesh" };

// Each folder of golden pairs; a new one needs no line here.
for (const folder of readdirSync(testdata).sort()) {
  const cases = new URL(folder, testdata);
  if (folder === "discovery") describeGolden(cases, translateDiscovery, { ...defaults, ages: "CREATED" });
  else describeGolden(cases, translateNetworking, defaults);
}
