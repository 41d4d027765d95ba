import { create } from "@bufbuild/protobuf";
import { type Client, Metadata } from "@grpc/grpc-js";
import { type CertificateFacts, createRequest, renewalTime } from "@isthmus/certificates";
import { messageOf, UsageError } from "@isthmus/core";
import { RegisterRequestSchema, RenewRequestSchema } from "../gen/relay/v1/registration_pb.ts";
import type { ConnectRequest } from "../gen/relay/v1/relay_pb.ts";
import { type CredentialStore, type Credentials, usability } from "../registration/credentials.ts";
import { DEFAULT_AUTHORITY } from "../registration/serverIdentity.ts";
import type { AgentStreamHandler, Connector, Progress, Stream } from "../session/connection.ts";
import type { Clock, Log } from "../session/environment.ts";
import { RelayError } from "../session/relayError.ts";
import { openChannel } from "./channel.ts";
import { callUnary, openStream } from "./clientCalls.ts";
import { registerMethod, renewMethod } from "./serviceDefinition.ts";

export interface GrpcConnectorOptions {
  /** host:port */
  readonly address: string;
  /** The name that the server's certificate must bear. Default: `gloo-mesh-mgmt-server.gloo-mesh`. */
  readonly authority?: string;
  readonly clusterName: string;
  readonly clusterUid: string;
  /** `ca.crt` of relay-root-tls-secret, read anew for each connection. A rejection is told and tried again; UsageError says what a person has to do. */
  readonly root: () => Promise<string>;
  /** The relay identity token, read anew when it is needed; undefined when there is none (any more). */
  readonly token: () => Promise<string | undefined>;
  /** Where the agent's certificate is kept. Undefined: the TLS setup, without one; the token goes with each call. */
  readonly credentials: CredentialStore | undefined;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
}

/** An agent's way to the server: registers when it has no good certificate, connects with it, renews it before it expires. */
export function grpcConnector(options: GrpcConnectorOptions): Connector {
  const { address, authority = DEFAULT_AUTHORITY, clusterName, clusterUid, credentials: store, clock, random, log } = options;
  const server = `the management server at ${address}`;
  // The server has turned the stored certificate down: another one is needed.
  let isRefused = false;

  async function channel(identity: Credentials | undefined): Promise<Client> {
    const root = await asked("the root certificate", options.root);
    try {
      return openChannel({ address, authority, root, identity });
    } catch (error) {
      // The TLS library does not take what the Secrets hold. What was issued to us can be had anew.
      if (identity !== undefined) isRefused = true;
      const what = identity === undefined ? "the root certificate (relay-root-tls-secret)" : "the stored certificates";
      throw new RelayError("Refused", `${what} cannot be used: ${messageOf(error)}`, error);
    }
  }

  async function register(progress: Progress, why: string, from: CredentialStore, signal: AbortSignal): Promise<Credentials> {
    const given = await asked("the relay identity token", options.token);
    if (given === undefined || given === "") {
      throw new RelayError(
        "WrongToken",
        `cannot register ${clusterName}: ${why}, and there is no relay identity token (Secret relay-identity-token-secret, key token)`,
      );
    }
    progress("registering", `registering ${clusterName} at ${address}: ${why}`);
    const { request: certificateRequest, key } = await createRequest(clusterName);
    const request = create(RegisterRequestSchema, { token: given, certificateRequest, clusterName, clusterUid });
    const client = await channel(undefined);
    const issued = await callUnary(client, { method: registerMethod, request, server }, signal);
    const credentials = { certificate: issued.certificateChain, key, root: issued.root };
    await asked("the place for certificates", () => from.save(credentials));
    isRefused = false;
    log.info({ cluster: clusterName }, `registered as ${clusterName}`);
    return credentials;
  }

  async function usableCredentials(
    from: CredentialStore,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<{ credentials: Credentials; facts: CertificateFacts }> {
    const stored = await asked("the stored certificate", () => from.load());
    const found = stored === undefined ? { problem: "it has no certificate yet" } : usability(stored, clusterName, clock.now());
    if (stored !== undefined && !("problem" in found) && !isRefused) return { credentials: stored, facts: found };
    const why = "problem" in found ? found.problem : "the management server does not accept its certificate";
    const credentials = await register(progress, why, from, signal);
    const facts = usability(credentials, clusterName, clock.now());
    if ("problem" in facts) throw new RelayError("Refused", `${server} issued a certificate that cannot be used: ${facts.problem}`);
    return { credentials, facts };
  }

  /** Renews in time, as long as the stream that uses the certificate lives. */
  async function keepFresh(
    from: CredentialStore,
    facts: CertificateFacts,
    current: Credentials,
    handler: AgentStreamHandler,
    signal: AbortSignal,
  ): Promise<void> {
    // Never at once: a certificate that is old when it is issued must not make us run in a circle.
    await clock.sleep(Math.max(SHORTEST_RETRY_MS, renewalTime(facts, random) - clock.now()), signal);
    for (;;) {
      try {
        const { request: certificateRequest, key } = await createRequest(clusterName);
        const request = create(RenewRequestSchema, { certificateRequest, clusterUid });
        const issued = await callUnary(await channel(current), { method: renewMethod, request, server }, signal);
        await from.save({ certificate: issued.certificateChain, key, root: issued.root });
        log.info({ cluster: clusterName }, "renewed the client certificate");
        return handler.replace("it has a new certificate");
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RelayError && error.code === "Refused") {
          // Nor will it be granted later: whoever gave us this certificate has to give us the next one.
          log.warn({ cluster: clusterName }, `the client certificate is not renewed by the management server: ${error.message}`);
          return;
        }
        const leftMs = facts.notAfter - clock.now();
        log.warn(
          { cluster: clusterName, expiresAt: new Date(facts.notAfter).toISOString() },
          `could not renew the client certificate: ${messageOf(error)}`,
        );
        await clock.sleep(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, leftMs / 10)), signal);
      }
    }
  }

  async function connect(handler: AgentStreamHandler, progress: Progress, signal: AbortSignal): Promise<Stream<ConnectRequest>> {
    signal.throwIfAborted();
    if (store === undefined) {
      progress("connecting", `connecting to ${server} with the token`);
      return openStream(await channel(undefined), { handler, server, metadata: await tokenMetadata() });
    }
    const { credentials, facts } = await usableCredentials(store, progress, signal);
    progress("connecting", `connecting to ${server}`);
    const life = new AbortController();
    const watching: AgentStreamHandler = {
      ...handler,
      ended(end) {
        if (end.code === "CertificateRefused") isRefused = true;
        life.abort();
        handler.ended(end);
      },
    };
    const stream = openStream(await channel(credentials), { handler: watching, server, metadata: identityMetadata() });
    keepFresh(store, facts, credentials, handler, life.signal).catch((error: unknown) => {
      if (!life.signal.aborted) throw error;
    });
    return {
      send: stream.send,
      end(end) {
        life.abort();
        stream.end(end);
      },
    };
  }

  function identityMetadata(): Metadata {
    const metadata = new Metadata();
    metadata.set("x-cluster-id", clusterName);
    return metadata;
  }

  async function tokenMetadata(): Promise<Metadata> {
    const given = await asked("the relay identity token", options.token);
    if (given === undefined || given === "")
      throw new RelayError(
        "WrongToken",
        "there is no relay identity token, which the setup without client certificates needs (RELAY_TOKEN)",
      );
    const metadata = identityMetadata();
    metadata.set("x-cluster-uid", clusterUid);
    metadata.set("authorization", `Bearer ${given}`);
    return metadata;
  }

  return { connect };
}

/** Asks a port of the agent. When it fails that is the world's fault, or a user's who can be told: to be tried again. */
async function asked<T>(what: string, port: () => Promise<T>): Promise<T> {
  try {
    return await port();
  } catch (error) {
    if (error instanceof RelayError) throw error;
    if (error instanceof UsageError) throw new RelayError("Refused", error.message, error);
    throw new RelayError("Unreachable", `no access to ${what}: ${messageOf(error)}`, error);
  }
}

const SHORTEST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
