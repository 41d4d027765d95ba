import { describeGolden } from "@isthmus/testing";
import { translateDiscovery } from "../src/discovery/discovery.ts";

describeGolden(new URL("../testdata/discovery", import.meta.url), translateDiscovery, { namespace: "gloo-mesh", ages: "CREATED" });
