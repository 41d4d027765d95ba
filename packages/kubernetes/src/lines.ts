const NEWLINE = 0x0a;

/** Thrown for a line that is longer than anybody would write. */
export class LineTooLong extends Error {}

/** The lines of a UTF-8 stream that are not empty, of at most `maxBytes`. A last line without its end is left out: the stream broke off. */
export async function* lines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void, undefined> {
  // Pieces of a line whose end has not come yet: joined once, as a large object comes in many chunks.
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (bytes + end - start > maxBytes) throw new LineTooLong();
      const line = Buffer.concat([...pending, chunk.subarray(start, end)]).toString("utf8");
      pending = [];
      bytes = 0;
      start = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > maxBytes) throw new LineTooLong();
  }
}
