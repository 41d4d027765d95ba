import { describeGolden } from "@isthmus/testing";
import { translateNetworking } from "./translateNetworking.ts";

describeGolden(new URL("../testdata/workloadClusters", import.meta.url), translateNetworking, { namespace: "gloo-mesh" });
