/** So many places, of which one user or address may have a part: one cannot keep others out. */
export interface SharedPlaces {
  readonly taken: number;
  /** Takes a place, which the returned function gives back; undefined: there is none for this one. Without a name all are one, and may have all. */
  take(who: string | undefined): (() => void) | undefined;
}

/** Places that are all free. */
export function sharedPlaces({ inAll, ofOne }: { readonly inAll: number; readonly ofOne: number }): SharedPlaces {
  const byOne = new Map<string, number>();
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take(who) {
      const own = who === undefined ? 0 : (byOne.get(who) ?? 0);
      if (taken >= inAll || own >= ofOne) return undefined;
      taken++;
      if (who !== undefined) byOne.set(who, own + 1);
      return () => {
        taken--;
        if (who === undefined) return;
        const left = (byOne.get(who) ?? 1) - 1;
        if (left === 0) byOne.delete(who);
        else byOne.set(who, left);
      };
    },
  };
}
