import { create, type DescMethod, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Client, Metadata, status } from "@grpc/grpc-js";
import { DEFAULT_AUTHORITY } from "../src/index.ts";
import { openChannel } from "../src/transport/channel.ts";
import type { RawOptions } from "./rawClient.ts";

/** Makes any call of a service and gives the name of the status that it ends with; "OK" also for a stream that has given an answer. */
export async function codeOf(
  { address, root, identity, headers = {} }: RawOptions,
  { service, method }: { readonly service: DescService; readonly method: DescMethod },
  fields: Readonly<Record<string, unknown>>,
): Promise<string> {
  const client = openChannel({ address, authority: DEFAULT_AUTHORITY, root, identity });
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const path = `/${service.typeName}/${method.name}`;
  const request = create(method.input, fields);
  const isStream = method.methodKind !== "unary";
  try {
    return status[
      await (isStream ? streamed(client, { path, method, metadata, request }) : unary(client, { path, method, metadata, request }))
    ];
  } finally {
    client.close();
  }
}

interface RawRequest {
  readonly path: string;
  readonly method: DescMethod;
  readonly metadata: Metadata;
  readonly request: Message;
}

function unary(client: Client, { path, method, metadata, request }: RawRequest): Promise<status> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, serializer(method), deserializer(method), request, metadata, (error) =>
      resolve(error?.code ?? status.OK),
    );
  });
}

function streamed(client: Client, { path, method, metadata, request }: RawRequest): Promise<status> {
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(path, serializer(method), deserializer(method), metadata);
    call.on("error", () => undefined);
    call.on("data", () => {
      resolve(status.OK);
      call.cancel();
    });
    call.on("status", ({ code }) => resolve(code));
    call.write(request);
  });
}

function serializer({ input }: DescMethod): (message: Message) => Buffer {
  return (message) => Buffer.from(toBinary(input, message));
}

function deserializer({ output }: DescMethod): (bytes: Uint8Array) => Message {
  return (bytes) => fromBinary(output, bytes);
}
