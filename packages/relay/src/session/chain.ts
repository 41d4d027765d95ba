/**
 * What comes piece by piece, the last piece first. A longer chain shares the one that it was made of, so that a state may hold it: to
 * append costs the piece, and not what is there already.
 */
export interface Chain<T> {
  readonly piece: T;
  readonly before: Chain<T> | undefined;
}

/** The pieces in the order in which they came. */
export function piecesOf<T>(chain: Chain<T> | undefined): readonly T[] {
  const pieces: T[] = [];
  for (let link = chain; link !== undefined; link = link.before) pieces.push(link.piece);
  return pieces.reverse();
}
