import { create } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type Clock, keptText, type Log, type Metric, messageOf } from "@isthmus/core";
import { HealthImplementation } from "grpc-health-check";
import {
  type RegisterRequest,
  type RegisterResponse,
  RegisterResponseSchema,
  type RenewRequest,
  type RenewResponse,
  RenewResponseSchema,
} from "../gen/relay/v1/registration_pb.ts";
import type { JoinTokens } from "../registration/joinTokens.ts";
import { startRegistrar } from "../registration/register.ts";
import type { Registrations } from "../registration/registrations.ts";
import { rootsDigest } from "../registration/roots.ts";
import type { ServerIdentity } from "../registration/serverIdentity.ts";
import type { Acceptor, Peer } from "../session/connection.ts";
import { startCounters } from "../session/counters.ts";
import { RelayError } from "../session/relayError.ts";
import { MAX_MESSAGE_BYTES } from "../session/wire.ts";
import { type ConnectionLimits, DEFAULT_LIMITS, startConnectionGuard } from "./connectionGuard.ts";
import "./grpcLogging.ts";
import { serveGrpc } from "./grpcOverHttp2.ts";
import { startHttp2Server } from "./http2Server.ts";
import { addressOf, type Certified, certifiedPeer, headerOf, ROOTS_HEADER, trustOf } from "./peer.ts";
import { addReflection } from "./reflection.ts";
import { limitRelayCall } from "./relayCalls.ts";
import { type ConnectCall, serveStream } from "./serverStream.ts";
import { serverTlsContext } from "./serverTls.ts";
import { connectMethod, registerMethod, renewMethod, SERVICE_NAMES } from "./serviceDefinition.ts";
import { type GrpcStatus, statusOfError } from "./status.ts";
import { startTurns } from "./turns.ts";

export interface GrpcServerOptions {
  readonly host: string;
  /** 9900 by custom; 0 takes any that is free. */
  readonly port: number;
  readonly identity: ServerIdentity;
  /** Of the server's link. */
  readonly accept: Acceptor;
  readonly registrations: Registrations;
  /** The relay identity token as it is now. */
  readonly token: () => string | undefined;
  /** Default: there are none. */
  readonly joinTokens?: JoinTokens;
  /** False: the TLS setup, where agents have no certificate and send the token with each call. Default: true. */
  readonly clientCertificates?: boolean;
  /** Whether anybody may ask what services there are. Default: no. */
  readonly reflection?: boolean;
  /** Of connections, and of who has not shown who they are. Defaults: `DEFAULT_LIMITS`. */
  readonly limits?: Partial<ConnectionLimits>;
  /** As it is now. Default: 24 h. */
  readonly agentCertificateLifetimeMs?: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface GrpcServer {
  readonly port: number;
  /** Takes new certificates into use; open streams live on. Throws UsageError for what cannot be used, and continues with the old ones. */
  rotate(identity: ServerIdentity): void;
  metrics(): readonly Metric[];
  /** Ends everything. The link's streams should have been ended before, so that agents hear why. */
  close(): Promise<void>;
}

/** Serves registration, the relay and gRPC health on one TLS port. Rejects with UsageError when the port cannot be had or the certificates are no good. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const {
    host,
    port,
    accept,
    registrations,
    token,
    joinTokens,
    clientCertificates = true,
    agentCertificateLifetimeMs,
    clock,
    log,
  } = options;
  let { identity } = options;
  const counters = startCounters();
  const tls = serverTlsContext(identity);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const guard = startConnectionGuard({ limits, metric: "relay_server_connections_cut_total", log });
  const registrar = startRegistrar({
    registrations,
    identity: () => identity,
    token,
    joinTokens,
    clock,
    log,
    ...(agentCertificateLifetimeMs === undefined ? {} : { lifetimeMs: agentCertificateLifetimeMs }),
  });

  /** Who calls: by the verified certificate, or in the TLS setup by the token and by what the caller says. */
  async function peerOf(call: ConnectCall): Promise<Peer> {
    const peer = await judgedPeer(call);
    guard.identified(call.getPeer());
    return peer;
  }

  async function judgedPeer(call: ConnectCall): Promise<Peer> {
    if (clientCertificates) {
      const { peer, shown } = certified(call);
      await registrar.checkEntitlement(peer.clusterName, shown);
      return peer;
    }
    const claim = { clusterName: headerOf(call, "x-cluster-id"), clusterUid: headerOf(call, "x-cluster-uid"), address: addressOf(call) };
    await registrar.admit(claim, headerOf(call, "authorization").replace(/^Bearer /, ""));
    return { clusterName: claim.clusterName, address: claim.address, authentication: "token", ...trustOf(call) };
  }

  let named: { readonly root: string; readonly digest: Promise<string> } | undefined;

  /** What every agent hears first: an agent that trusts other roots renews its certificate, and gets them with it. */
  async function greeting(): Promise<Metadata> {
    const metadata = new Metadata();
    // Once for each set of roots: a fleet may connect all at once.
    if (named?.root !== identity.root) named = { root: identity.root, digest: rootsDigest(identity.root) };
    metadata.set(ROOTS_HEADER, await named.digest);
    return metadata;
  }

  /** A caller with a good certificate. What the call says of itself must not differ. */
  function certified(call: Parameters<typeof certifiedPeer>[0]): Certified {
    const found = clientCertificates ? certifiedPeer(call) : undefined;
    if (found === undefined) throw new RelayError("CertificateRefused", NEEDS_CERTIFICATE);
    const said = headerOf(call, "x-cluster-id");
    const { clusterName } = found.peer;
    if (said !== "" && said !== clusterName) {
      throw new RelayError("Refused", `the certificate is for ${clusterName}, but the call is from ${keptText(said, LONGEST_SAID)}`);
    }
    return found;
  }

  async function register(call: ServerUnaryCall<RegisterRequest, RegisterResponse>): Promise<RegisterResponse> {
    if (!clientCertificates)
      throw new RelayError("Refused", "this management server runs without client certificates: disable them in the agent, too");
    const { clusterName, clusterUid, token: given, certificateRequest: request, previousCertificate: previous } = call.request;
    return create(
      RegisterResponseSchema,
      await registrar.register({ clusterName, clusterUid, address: addressOf(call) }, given, { request, previous }),
    );
  }

  async function renew(call: ServerUnaryCall<RenewRequest, RenewResponse>): Promise<RenewResponse> {
    const { peer, shown } = certified(call);
    const { clusterUid, certificateRequest } = call.request;
    const claim = { clusterName: peer.clusterName, clusterUid, address: peer.address };
    return create(RenewResponseSchema, await registrar.renew(claim, shown, certificateRequest));
  }

  function unary<In, Out>(name: string, answer: (call: ServerUnaryCall<In, Out>) => Promise<Out>) {
    return (call: ServerUnaryCall<In, Out>, callback: sendUnaryData<Out>): void => {
      answer(call).then(
        (response) => {
          counters.add("relay_server_calls_total", { call: name, code: "OK" });
          callback(null, response);
        },
        (error: unknown) => callback(refusal(name, error)),
      );
    };
  }

  function refusal(name: string, error: unknown): GrpcStatus {
    counters.add("relay_server_calls_total", { call: name, code: error instanceof RelayError ? error.code : "Internal" });
    if (!(error instanceof RelayError)) log.error({ call: name }, `${name} failed: ${messageOf(error)}`);
    return statusOfError(error);
  }

  const server = new Server(SERVER_OPTIONS);
  const turns = startTurns();
  const definition: ServiceDefinition = { connect: connectMethod, register: registerMethod, renew: renewMethod };
  const handlers: UntypedServiceImplementation = {
    connect: (call: ConnectCall) => serveStream(call, { peerOf, greeting, accept, turns, refusal: (error) => refusal("Connect", error) }),
    register: unary("Register", register),
    renew: unary("Renew", renew),
  };
  server.addService(definition, handlers);
  const health = new HealthImplementation(Object.fromEntries(["", ...SERVICE_NAMES].map((name) => [name, "SERVING" as const])));
  health.addToServer(server);
  if (options.reflection === true) addReflection(server);

  const http2 = await startHttp2Server({
    host,
    port,
    remedy: "set another with --port",
    tls,
    guard,
    streams: { few: 4, many: 16 },
    widens: true,
    limitStream: limitRelayCall(limits.callMs),
    serve: (http2Server) => serveGrpc(server, http2Server),
  });
  return {
    port: http2.port,
    rotate(next) {
      http2.setTls(serverTlsContext(next));
      identity = next;
    },
    metrics: () => [...counters.metrics(), ...guard.metrics()],
    async close() {
      for (const name of ["", ...SERVICE_NAMES]) health.setStatus(name, "NOT_SERVING");
      // What is still being written has this long; an agent that is gone would keep the process from ending.
      await http2.close(CLOSING_MS);
      guard.stop();
    },
  };
}

const NEEDS_CERTIFICATE = "the management server requires a client certificate that it has issued and that has not expired";

const CLOSING_MS = 1_000;

// What a caller says is repeated to it only in part.
const LONGEST_SAID = 80;

const SERVER_OPTIONS = {
  // One object of the largest size, and what a newer version may put around it.
  "grpc.max_receive_message_length": 2 * MAX_MESSAGE_BYTES,
  // A connection without a call ends.
  "grpc.max_connection_idle_ms": 30_000,
  // Its figures of every connection and call are of no use to us.
  "grpc.enable_channelz": 0,
  // Finds connections of which the other end is gone for good.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
};
