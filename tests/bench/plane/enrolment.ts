import { clusterRegistrations, systemClock } from "@isthmus/plane";
import { type ServerIdentity, startGrpcServer } from "@isthmus/relay";
import type { Acceptor } from "@isthmus/relay/session";
import { clusterName } from "../fleet.ts";
import { PLANE } from "../planeObjects.ts";
import { benchLog } from "./benchLog.ts";
import { FLEET_TOKEN, fleetTokens } from "./fleetToken.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import type { ServerAddress } from "./serverUnderTest.ts";
import { connectorOf } from "./simulatedAgent.ts";

/**
 * Lets every agent of a fleet register, with a server that does nothing else: agents have their certificates then, and nobody has
 * received anything. Gives the address at which a server of this identity finds them again.
 */
export async function enrol({ management, wallet, size }: HostedFleet, identity: ServerIdentity): Promise<ServerAddress> {
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    identity,
    accept: listen,
    registrations: clusterRegistrations(management, { namespace: PLANE }),
    token: () => undefined,
    joinTokens: fleetTokens,
    clock: systemClock,
    log: benchLog,
  });
  const address = { port: server.port, root: identity.root, token: FLEET_TOKEN };
  const names = Array.from({ length: size.clusters }, (_, i) => clusterName(i));
  const signal = new AbortController().signal;

  async function enrolInTurn(): Promise<void> {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const stream = await connectorOf({ clusterName: name, address, wallet }).connect(DEAF, () => undefined, signal);
      stream.end({ code: "Ended", reason: "the agent is registered" });
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, enrolInTurn));
  await server.close();
  return address;
}

const AT_ONCE = 8;
const DEAF = { received: () => undefined, drained: () => undefined, ended: () => undefined, replace: () => undefined };
const listen: Acceptor = () => DEAF;
