import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { createRequest, type IssueOptions, issueClientCertificate, type KeyedCertificate } from "@isthmus/certificates";
import { service as healthService } from "grpc-health-check";
import {
  type RegisterRequestSchema,
  type RegisterResponse,
  RenewRequestSchema,
  type RenewResponse,
  RegisterRequestSchema as Request,
} from "../src/gen/relay/v1/registration_pb.ts";
import { ConnectRequestSchema, type ConnectResponse } from "../src/gen/relay/v1/relay_pb.ts";
import { DEFAULT_AUTHORITY } from "../src/index.ts";
import { openChannel } from "../src/transport/channel.ts";
import { connectMethod, registerMethod, renewMethod } from "../src/transport/serviceDefinition.ts";

/** Calls as any client could make them, without the agent's good manners. */
export interface RawOptions {
  readonly address: string;
  readonly root: string;
  readonly identity?: { readonly certificate: string; readonly key: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** What the hello says. */
  readonly clusterUid?: string;
}

/** A client certificate of `authority` for any names. */
export async function certificateOf(authority: KeyedCertificate, options: IssueOptions): Promise<{ certificate: string; key: string }> {
  const { request, key } = await createRequest("raw");
  return { certificate: await issueClientCertificate(authority, request, options), key };
}

/** Opens a stream, says hello, and gives the first answer or the status of its end. */
export async function rawConnect(
  options: RawOptions,
  messages: readonly MessageInitShape<typeof ConnectRequestSchema>[] = [],
): Promise<{ first?: ConnectResponse; all: ConnectResponse[]; status?: StatusObject }> {
  const client = channelOf(options);
  const call = client.makeBidiStreamRequest(
    connectMethod.path,
    connectMethod.requestSerialize,
    connectMethod.responseDeserialize,
    metadataOf(options),
  );
  call.on("error", () => undefined);
  const { clusterUid = "" } = options;
  const hello = { epoch: 1n, body: { case: "hello" as const, value: { protocolVersion: 1, instance: "raw", clusterUid } } };
  for (const message of [hello, ...messages]) call.write(create(ConnectRequestSchema, message));
  const all: ConnectResponse[] = [];
  const result = await new Promise<{ first?: ConnectResponse; status?: StatusObject }>((resolve) => {
    call.on("data", (message: ConnectResponse) => {
      all.push(message);
      if (all.length > messages.length) resolve({ ...(all[0] === undefined ? {} : { first: all[0] }) });
    });
    call.on("status", (status: StatusObject) => resolve({ status }));
  });
  call.cancel();
  client.close();
  return { ...result, all };
}

export function rawRegister(
  options: RawOptions,
  request: MessageInitShape<typeof RegisterRequestSchema>,
): Promise<{ response?: RegisterResponse; status?: StatusObject }> {
  return new Promise((resolve) => {
    const client = channelOf(options);
    client.makeUnaryRequest(
      registerMethod.path,
      registerMethod.requestSerialize,
      registerMethod.responseDeserialize,
      create(Request, request),
      metadataOf(options),
      (error, response) => {
        client.close();
        resolve(error === null ? { ...(response === undefined ? {} : { response }) } : { status: error });
      },
    );
  });
}

export function rawRenew(
  options: RawOptions,
  request: MessageInitShape<typeof RenewRequestSchema>,
): Promise<{ response?: RenewResponse; status?: StatusObject }> {
  return new Promise((resolve) => {
    const client = channelOf(options);
    client.makeUnaryRequest(
      renewMethod.path,
      renewMethod.requestSerialize,
      renewMethod.responseDeserialize,
      create(RenewRequestSchema, request),
      metadataOf(options),
      (error, response) => {
        client.close();
        resolve(error === null ? { ...(response === undefined ? {} : { response }) } : { status: error });
      },
    );
  });
}

function channelOf({ address, root, identity }: RawOptions) {
  return openChannel({ address, authority: DEFAULT_AUTHORITY, root, identity });
}

function metadataOf({ headers = {} }: RawOptions): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

/** The health of a service, as gRPC's own protocol tells it. */
export async function rawHealth(options: RawOptions, service: string): Promise<string> {
  const check = healthService["Check"];
  if (check === undefined) throw new Error("the health service has no Check");
  const client = channelOf(options);
  const { path, requestSerialize, responseDeserialize } = check;
  const response = await new Promise<{ status?: string } | undefined>((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service }, (error, answer?: object) =>
      error === null ? resolve(answer) : reject(error),
    );
  }).finally(() => client.close());
  return response?.status ?? "";
}

/** The services that reflection lists, or the name of the status that it ends with. */
export async function reflectedServices(options: RawOptions): Promise<readonly string[] | string> {
  const client = channelOf(options);
  const call = client.makeBidiStreamRequest(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    (request: Buffer) => request,
    (response: Buffer) => response,
  );
  call.on("error", () => undefined);
  // ServerReflectionRequest{list_services: ""}
  call.write(Buffer.from([0x3a, 0x00]));
  const result = await new Promise<readonly string[] | string>((resolve) => {
    call.on("data", (response: Buffer) =>
      resolve([...response.toString("latin1").matchAll(/relay\.v1\.\w+/g)].map(([name]) => name).sort()),
    );
    call.on("status", ({ code }: StatusObject) => resolve(status[code]));
  });
  call.cancel();
  client.close();
  return result;
}
