/** A record in which members that may be undefined are absent where they are. */
export type WithoutUndefined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy of a record without its undefined members, the others in their order. */
export function withoutUndefined<T extends object>(record: T): WithoutUndefined<T>;
export function withoutUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
