/** So many places, of which one user may have a part: one user cannot keep others out. */
export interface UserPlaces {
  readonly taken: number;
  /** Takes a place, which the returned function gives back; undefined: there is none for this user. Without a login all are one, and may have all. */
  take(username: string | undefined): (() => void) | undefined;
}

/** Places that are all free. */
export function userPlaces({ inAll, ofUser }: { readonly inAll: number; readonly ofUser: number }): UserPlaces {
  const byUser = new Map<string, number>();
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take(username) {
      const own = username === undefined ? 0 : (byUser.get(username) ?? 0);
      if (taken >= inAll || own >= ofUser) return undefined;
      taken++;
      if (username !== undefined) byUser.set(username, own + 1);
      return () => {
        taken--;
        if (username === undefined) return;
        const left = (byUser.get(username) ?? 1) - 1;
        if (left === 0) byUser.delete(username);
        else byUser.set(username, left);
      };
    },
  };
}
