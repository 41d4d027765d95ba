/** What a proxy says of itself: texts, and records of texts. */
export type NodeMetadata = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/**
 * A DiscoveryRequest for one type of resources, as a message of gRPC. Few fields are needed, so they are written by hand.
 * Source: envoyproxy.io, service.discovery.v3.DiscoveryRequest; protobuf.dev, Encoding; google.protobuf.Struct.
 */
export function discoveryRequest({
  id,
  metadata,
  typeUrl,
}: {
  readonly id: string;
  readonly metadata: NodeMetadata;
  readonly typeUrl: string;
}): Buffer {
  const node = Buffer.concat([field(1, id), field(2, id), field(3, struct(metadata))]);
  const message = Buffer.concat([field(2, node), field(4, typeUrl)]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function struct(members: NodeMetadata): Buffer {
  return Buffer.concat(
    Object.entries(members).map(([key, value]) => {
      const content = typeof value === "string" ? field(3, value) : field(5, struct(value));
      return field(1, Buffer.concat([field(1, key), field(2, content)]));
    }),
  );
}

// Wire type 2: a length, and as many bytes.
function field(number: number, value: string | Buffer): Buffer {
  const content = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  return value < 128 ? Buffer.of(value) : Buffer.concat([Buffer.of((value % 128) + 128), varint(Math.floor(value / 128))]);
}
