const NEWLINE = 0x0a;

/** The lines of a UTF-8 stream that are not empty. A last line without its end is left out: the stream broke off. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  // Pieces of a line whose end has not come yet: joined once, as a large object comes in many chunks.
  let pending: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...pending, chunk.subarray(start, end)]).toString("utf8");
      pending = [];
      start = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}
