/** A record with the members that may be undefined left out where they are. */
export type Packed<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy of a record without the members that are undefined, in the least memory that V8 has for one: an object that members are
 * added to, as by a spread, `Object.assign` or `Object.fromEntries`, keeps them in a list of its own, with room for more
 * (docs/decisions/0026). For records whose members the program names: each combination of names is remembered.
 */
export function packed<T extends object>(record: T): Packed<T>;
export function packed(record: object): object {
  return packedWhere(record, (value) => value !== undefined);
}

/** The same, of the members that `isKept`. */
export function packedWhere<T extends object>(record: T, isKept: (value: unknown) => boolean): Partial<T> {
  const members = record as Readonly<Record<string, unknown>>;
  let shape = ROOT;
  for (const name in members) if (isKept(members[name])) shape = shape.followedBy(name);
  const copy = shape.blank();
  for (const name of shape.names) copy[name] = members[name];
  return copy as Partial<T>;
}

/** The names of an object's members, in order. */
class Shape {
  readonly names: readonly string[];
  readonly #longer = new Map<string, Shape>();
  readonly #blank: string;

  constructor(names: readonly string[]) {
    this.names = names;
    this.#blank = JSON.stringify(Object.fromEntries(names.map((name) => [name, null])));
  }

  followedBy(name: string): Shape {
    let shape = this.#longer.get(name);
    if (shape === undefined) {
      shape = new Shape([...this.names, name]);
      this.#longer.set(name, shape);
    }
    return shape;
  }

  /** With room for its members and no more, as only an object has that is parsed; a copy of one that was parsed has not. */
  blank(): Record<string, unknown> {
    return JSON.parse(this.#blank) as Record<string, unknown>;
  }
}

const ROOT = new Shape([]);
