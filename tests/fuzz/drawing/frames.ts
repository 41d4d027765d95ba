/** Several messages as one input: each with its length before it, in 4 bytes. */
export function framed(messages: readonly Buffer[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(message.length);
      return [length, message];
    }),
  );
}

/** The messages of an input. One that is cut off ends earlier. */
export function unframed(input: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 4 <= input.length; ) {
    const length = input.readUInt32BE(at);
    messages.push(input.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return messages;
}

/** A message as gRPC sends it. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
export function grpcFrame(message: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0]), framed([message])]);
}
