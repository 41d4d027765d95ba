import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clusterContract } from "@isthmus/testing";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { startFleet } from "./harness/fleet.ts";
import { installCrds, objectsIn } from "./harness/manifests.ts";

const crds = fileURLToPath(new URL("../../deploy/crds", import.meta.url));

describeReal("the contract that the simulator keeps", (components) => {
  clusterContract("a real kube-apiserver", async () => {
    const fleet = await startFleet(components, ["contract"]);
    const server = fleet.servers.contract;
    const files = existsSync(crds) ? readdirSync(crds).filter((file) => file.endsWith(".yaml")) : [];
    await installCrds(
      clusterOf(server, "contract"),
      files.flatMap((file) => objectsIn(readFileSync(`${crds}/${file}`, "utf8"))),
    );
    // An API server that has just started has forgotten what was before, as one has that runs for long.
    await server.restart();
    return { cluster: clusterOf(server, "contract"), stop: () => fleet.stop() };
  });
});
