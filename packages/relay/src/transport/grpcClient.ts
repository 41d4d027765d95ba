import { create } from "@bufbuild/protobuf";
import { type Client, Metadata } from "@grpc/grpc-js";
import {
  type CertificateFacts,
  certificateFacts,
  createRequest,
  createRequestFor,
  InvalidPem,
  type SigningRequest,
} from "@isthmus/certificates";
import { type Clock, type Log, messageOf, UsageError } from "@isthmus/core";
import { RegisterRequestSchema, RenewRequestSchema } from "../gen/relay/v1/registration_pb.ts";
import type { ConnectRequest } from "../gen/relay/v1/relay_pb.ts";
import { type CredentialStore, type RelayCredentials, usability } from "../registration/credentials.ts";
import { clusterOfCertificate } from "../registration/identity.ts";
import { rootsDigest } from "../registration/roots.ts";
import { DEFAULT_AUTHORITY } from "../registration/serverIdentity.ts";
import type { AgentStreamHandler, Connector, Stream, SyncProgress } from "../session/connection.ts";
import { RelayError } from "../session/relayError.ts";
import { openChannel } from "./channel.ts";
import { callUnary, connectPatience, openStream } from "./clientCalls.ts";
import { keepFresh } from "./keepFresh.ts";
import { ROOTS_HEADER } from "./peer.ts";
import { registerMethod, renewMethod } from "./serviceDefinition.ts";

export interface GrpcConnectorOptions {
  /** host:port */
  readonly address: string;
  /** The name that the server's certificate must bear. Default: `gloo-mesh-mgmt-server.gloo-mesh`. */
  readonly authority?: string;
  readonly clusterName: string;
  readonly clusterUid: string;
  /** `ca.crt` of relay-root-tls-secret, read again for each connection. A rejection is reported and tried again; UsageError says what a person has to do. */
  readonly root: () => Promise<string>;
  /** False: any server that answers is taken for the server, and hears the token. For tests alone. Default: true. */
  readonly verifiesServer?: boolean;
  /** The relay identity token, read again when it is needed; undefined when there is none (any more). */
  readonly token: () => Promise<string | undefined>;
  /** Where the agent's certificate is kept. Undefined: the TLS setup, without one; the token goes with each call. */
  readonly credentials: CredentialStore | undefined;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
}

export interface GrpcConnector extends Connector {
  /** Called when what is read again for each connection may have changed: a stream that uses something else is replaced. */
  reload(): Promise<void>;
}

/** What one connection uses. */
interface Used {
  readonly root: string | undefined;
  readonly credentials: RelayCredentials | undefined;
  readonly token: string | undefined;
}

/** An agent's way to the server: registers when it has no good certificate, connects with it, renews it before it expires. */
export function grpcConnector(options: GrpcConnectorOptions): GrpcConnector {
  const { address, authority = DEFAULT_AUTHORITY, clusterName, clusterUid, credentials: store, clock, random, log } = options;
  const { verifiesServer = true } = options;
  const server = `the management server at ${address}`;
  const patience = connectPatience();
  // The server has turned the stored certificate down: another one is needed.
  let isRefused = false;
  // Issued, and not yet kept: a join token that bought it cannot buy another one.
  let unkept: RelayCredentials | undefined;
  // The key of the stored certificate does not open the name either: the next try is with another one.
  let isKeyRefused = false;
  // Asked for, and not answered: the server gives a name again to the key that took it, should its answer have got lost.
  let asking: Asking | undefined;
  let open: { readonly used: Used; readonly handler: AgentStreamHandler } | undefined;

  const rootNow = () => (verifiesServer ? asked("the root certificate", options.root) : Promise.resolve(undefined));

  async function channel(identity: RelayCredentials | undefined): Promise<Client> {
    const root = await rootNow();
    try {
      return openChannel({ address, authority, root, identity });
    } catch (error) {
      // The TLS library does not take what the Secrets hold. What was issued to us can be had again.
      if (identity !== undefined) isRefused = true;
      const what = identity === undefined ? "the root certificate (relay-root-tls-secret)" : "the stored certificates";
      throw new RelayError("Refused", `${what} cannot be used: ${messageOf(error)}`, error);
    }
  }

  async function keep(credentials: RelayCredentials, place: CredentialStore): Promise<RelayCredentials> {
    unkept = credentials;
    await asked("the store for certificates", () => place.save(credentials));
    unkept = undefined;
    isRefused = false;
    return credentials;
  }

  /** For the key of a certificate that has expired, which shows whose name it is all the same; else for a new one. */
  async function requestWith(expired: RelayCredentials | undefined): Promise<Asking> {
    const previous = expired?.certificate ?? "";
    if (asking?.previous === previous) return asking;
    if (expired !== undefined) {
      try {
        return { ...(await createRequestFor(clusterName, expired)), previous };
      } catch (error) {
        if (!(error instanceof InvalidPem)) throw error;
        log.warn({ cluster: clusterName }, `the key of the stored certificate cannot be used: ${error.message}`);
      }
    }
    return { ...(await createRequest(clusterName)), previous: "" };
  }

  async function register(
    { progress, why, expired }: { readonly progress: SyncProgress; readonly why: string; readonly expired: RelayCredentials | undefined },
    place: CredentialStore,
    signal: AbortSignal,
  ): Promise<RelayCredentials> {
    const given = await asked("the relay identity token", options.token);
    if (given === undefined || given === "") {
      throw new RelayError(
        "WrongToken",
        `cannot register ${clusterName}: ${why}, and no relay identity token is set (Secret relay-identity-token-secret, key token): ` +
          `create one in the management cluster: meshctl cluster token create --cluster ${clusterName} --manifest`,
      );
    }
    progress("registering", `registering ${clusterName} at ${address}: ${why}`);
    asking = await requestWith(isKeyRefused ? undefined : expired);
    const { request: certificateRequest, key, previous: previousCertificate } = asking;
    const request = create(RegisterRequestSchema, { token: given, certificateRequest, clusterName, clusterUid, previousCertificate });
    const client = await channel(undefined);
    // Should it be refused, the next try is with the stored certificate again: it may count by then.
    isRefused = false;
    const issued = await callUnary(client, { method: registerMethod, request, server }, signal).catch((error: unknown) => {
      if (error instanceof RelayError && error.code === "Refused") isKeyRefused = previousCertificate !== "";
      throw error;
    });
    asking = undefined;
    isKeyRefused = false;
    const credentials = await keep({ certificate: issued.certificateChain, key, root: issued.root }, place);
    log.info({ cluster: clusterName }, `registered as ${clusterName}`);
    return credentials;
  }

  async function usableCredentials(
    place: CredentialStore,
    progress: SyncProgress,
    signal: AbortSignal,
  ): Promise<{ credentials: RelayCredentials; facts: CertificateFacts }> {
    if (unkept !== undefined && !isRefused) await keep(unkept, place);
    const stored = await asked("the stored certificate", () => place.load());
    const found = stored === undefined ? { problem: "it has no certificate yet" } : usability(stored, clusterName, clock.now());
    if (stored !== undefined && !("problem" in found) && !isRefused) return { credentials: stored, facts: found };
    const why = "problem" in found ? found.problem : "the management server does not accept its certificate";
    if (stored?.isProvided === true) {
      // Another one may be there at the next try.
      isRefused = false;
      throw new RelayError(
        "Refused",
        `the Secret relay-client-tls-secret was not created by this agent and cannot be used: ${why}. Replace the certificate in it, or delete the Secret so that the agent registers`,
      );
    }
    const isOurs = stored !== undefined && "problem" in found && namedBy(stored) === clusterName;
    const credentials = await register({ progress, why, expired: isOurs ? stored : undefined }, place, signal);
    const facts = usability(credentials, clusterName, clock.now());
    if ("problem" in facts) throw new RelayError("Refused", `${server} issued a certificate that cannot be used: ${facts.problem}`);
    return { credentials, facts };
  }

  async function renew(current: RelayCredentials, place: CredentialStore, signal: AbortSignal): Promise<void> {
    const { request: certificateRequest, key } = await createRequest(clusterName);
    const request = create(RenewRequestSchema, { certificateRequest, clusterUid });
    const issued = await callUnary(await channel(current), { method: renewMethod, request, server }, signal);
    await place.save({ certificate: issued.certificateChain, key, root: issued.root });
    log.info({ cluster: clusterName }, "renewed the client certificate");
  }

  async function connect(handler: AgentStreamHandler, progress: SyncProgress, signal: AbortSignal): Promise<Stream<ConnectRequest>> {
    signal.throwIfAborted();
    if (!verifiesServer)
      log.warn(
        { address },
        `INSECURE: the certificate of the management server at ${address} is not verified, which may leak the token. For testing only`,
      );
    if (store === undefined) {
      progress("connecting", `connecting to ${server} with the token`);
      const token = await tokenNow();
      const root = await rootNow();
      const stream = openStream(await channel(undefined), { handler, server, patience, metadata: await headers(root, token) });
      open = { used: { root, credentials: undefined, token }, handler };
      return stream;
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
    const root = await rootNow();
    const metadata = await headers(root);
    const otherRoots = new AbortController();
    const onHello = (said: Metadata) => {
      const [roots] = said.get(ROOTS_HEADER);
      if (roots !== undefined && roots !== metadata.get(ROOTS_HEADER)[0]) otherRoots.abort();
    };
    const stream = openStream(await channel(credentials), { handler: watching, server, patience, metadata, onHello });
    open = { used: { root, credentials, token: undefined }, handler };
    if (credentials.isProvided !== true) {
      const renewal = { facts, clock, random, log, clusterName, otherRoots: otherRoots.signal };
      keepFresh({ ...renewal, renew: () => renew(credentials, store, life.signal), done: handler.replace }, life.signal).catch(
        (error: unknown) => {
          if (!life.signal.aborted) throw error;
        },
      );
    }
    return {
      send: stream.send,
      end(end) {
        life.abort();
        stream.end(end);
      },
    };
  }

  async function reload(): Promise<void> {
    const before = open;
    if (before === undefined) return;
    try {
      const root = await rootNow();
      const credentials = await store?.load();
      const token = store === undefined ? await options.token() : undefined;
      if (open === before && JSON.stringify({ root, credentials, token }) !== JSON.stringify(before.used)) {
        open = undefined;
        before.handler.replace("its Secrets have changed");
      }
    } catch (error) {
      log.warn({ cluster: clusterName }, `cannot read the changed Secrets: ${messageOf(error)}; the connection is kept`);
    }
  }

  async function headers(root: string | undefined, token?: string): Promise<Metadata> {
    const metadata = new Metadata();
    metadata.set("x-cluster-id", clusterName);
    if (root !== undefined) metadata.set(ROOTS_HEADER, await digestOf(root));
    if (token === undefined) return metadata;
    metadata.set("x-cluster-uid", clusterUid);
    metadata.set("authorization", `Bearer ${token}`);
    return metadata;
  }

  async function tokenNow(): Promise<string> {
    const given = await asked("the relay identity token", options.token);
    if (given === undefined || given === "")
      throw new RelayError(
        "WrongToken",
        "no relay identity token is set, which is required without client certificates (RELAY_TOKEN): copy the one of the management cluster: meshctl cluster token shared",
      );
    return given;
  }

  return { connect, reload };
}

/** A certificate request, with the certificate for whose key it is; "" for a key of its own. */
interface Asking extends SigningRequest {
  readonly previous: string;
}

/** The cluster that a stored certificate names. */
function namedBy({ certificate }: RelayCredentials): string | undefined {
  try {
    return clusterOfCertificate(certificateFacts(certificate));
  } catch (error) {
    if (error instanceof InvalidPem) return undefined;
    throw error;
  }
}

/** A root that is no certificate is reported when it is used. */
function digestOf(root: string): Promise<string> {
  return rootsDigest(root).catch(() => "");
}

/** Asks a port of the agent. When it fails that is the world's fault, or a user's who gets a report: to be tried again. */
async function asked<T>(what: string, port: () => Promise<T>): Promise<T> {
  try {
    return await port();
  } catch (error) {
    if (error instanceof RelayError) throw error;
    if (error instanceof UsageError) throw new RelayError("Refused", error.message, error);
    throw new RelayError("Unreachable", `cannot access ${what}: ${messageOf(error)}`, error);
  }
}
