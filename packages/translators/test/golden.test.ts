import { readdirSync } from "node:fs";
import { describeGolden, sampled } from "@isthmus/testing";
import { translateDiscovery } from "../src/discovery/discovery.ts";
import { translateNetworking } from "./translateNetworking.ts";

const testdata = new URL("../testdata/", import.meta.url);
const defaults = { namespace: "gloo-mesh" };

// Each folder of golden pairs; a new one needs no line here.
for (const folder of readdirSync(testdata).sort()) {
  const cases = new URL(folder, testdata);
  // Each case is compared with its file. That a translation repeats itself is one property of all of them.
  if (folder === "discovery") describeGolden(cases, translateDiscovery, { ...defaults, ages: "CREATED" }, { repeated: sampled });
  else describeGolden(cases, translateNetworking, defaults, { repeated: sampled });
}
