import { describeGolden } from "@isthmus/testing";
import { translateNetworking } from "./translateNetworking.ts";

describeGolden(new URL("../testdata/workloads", import.meta.url), translateNetworking, { namespace: "gloo-mesh" });
