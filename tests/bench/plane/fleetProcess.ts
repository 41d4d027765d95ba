import type { ServerIdentity } from "@isthmus/relay";
import { clusterName } from "../fleet.ts";
import { churnFor } from "./churn.ts";
import { replacePods } from "./endpoint.ts";
import { enrol } from "./enrolment.ts";
import { type HostedFleet, type HostedFleetOptions, hostedFleet } from "./hostedFleet.ts";
import { propagateRounds } from "./propagate.ts";
import { registerEach } from "./registration.ts";
import { clusterAnswers } from "./remoteCluster.ts";
import { answer } from "./rpc.ts";
import { type ServerAddress, startServerUnderTest } from "./serverUnderTest.ts";
import { changePod, changeReadiness } from "./wire.ts";

// The process beside a benchmark's own: it holds everything that the benchmark does not measure.

let open: HostedFleet | undefined;

function fleet(): HostedFleet {
  if (open === undefined) throw new Error("no fleet has been opened");
  return open;
}

const clusters = clusterAnswers((name) => {
  const cluster = name === "" ? fleet().management : fleet().clusters.get(name);
  if (cluster === undefined) throw new Error(`there is no cluster ${name}`);
  return cluster;
});

answer(process, {
  streams: clusters.streams,
  calls: {
    ...clusters.calls,
    open(options: HostedFleetOptions) {
      open = hostedFleet(options);
    },
    enrol: (identity: ServerIdentity) => enrol(fleet(), identity),
    startAgents(address: ServerAddress) {
      fleet().mark();
      fleet().start(
        Array.from({ length: fleet().size.clusters }, (_, i) => clusterName(i)),
        address,
      );
    },
    stopAgents: () => fleet().stopAgents(),
    mark: () => fleet().mark(),
    settled: (quietMs: number) => fleet().settled(quietMs),
    atRest: (quietMs: number) => fleet().atRest(quietMs),
    bytes: () => fleet().bytes(),
    serve: async () => (await startServerUnderTest({ cluster: fleet().management })).address,
    propagate: (rounds: number) => propagateRounds(fleet(), rounds),
    churn: (seconds: number) => churnFor(fleet(), seconds),
    replacePods: (times: number) => replacePods(fleet(), times),
    changePod: (n: number) => changePod(fleet(), n),
    changeReadiness: (n: number) => changeReadiness(fleet(), n),
    register: (address: ServerAddress) => registerEach(fleet(), address),
  },
});
process.on("disconnect", () => process.exit(0));
