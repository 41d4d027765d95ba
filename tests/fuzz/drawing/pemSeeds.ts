/** A certificate request, signed by its own key. It was made for this, and its key is nowhere. */
export const REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIHKMHECAQAwDzENMAsGA1UEAwwEZXZpbDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABJ/enijjG2l+vEcLVkJAMIlvq3SkL2GcJinH5xN5Vkdye9qFVPpaTPDtXwTH
n4kKuJUFw0EgPqPjsh4Lf+FZg8CgADAKBggqhkjOPQQDAgNJADBGAiEAnrjHkfq1
lkZcfeQhIYIf9Rh3gFekI1R6lWBR6ZXgUzUCIQDh0eyGvLfgjmsjZF19VXsBFyWv
b5YbABzSQQvxrez7Fg==
-----END CERTIFICATE REQUEST-----
`;

/** A certificate that has signed itself, valid for a hundred years. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqDCCAU2gAwIBAgIUQDxhY1pASdfHaofZw7tbhTSn7d8wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjIyMjE3MDZaGA8yMTI2MTAyOTIyMTcw
NlowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ/e
nijjG2l+vEcLVkJAMIlvq3SkL2GcJinH5xN5Vkdye9qFVPpaTPDtXwTHn4kKuJUF
w0EgPqPjsh4Lf+FZg8CjgYQwgYEwHQYDVR0OBBYEFITRb1ekPBpZgqC/AdJHaSsD
AGvmMB8GA1UdIwQYMBaAFITRb1ekPBpZgqC/AdJHaSsDAGvmMA8GA1UdEwEB/wQF
MAMBAf8wLgYDVR0RBCcwJYIEZXZpbIYdc3BpZmZlOi8vZ2xvby1tZXNoL2FnZW50
L2V2aWwwCgYIKoZIzj0EAwIDSQAwRgIhAMEl9SIurBqDS1gdpS4zAucyZLe4xAqt
7dmGpGEy8r5rAiEAqzHLHIqbUbtGC4NrfHyhO0722Ct0hi6NumZNj06kz6Y=
-----END CERTIFICATE-----
`;

// PKCS #8 of an EC key on P-256 without its public half: the number 0x0707…
const KEY = Buffer.concat([
  Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex"),
  Buffer.alloc(32, 7),
]).toString("base64");

/** Right texts, for spoiling. */
export const PEM_SEEDS: readonly string[] = [
  REQUEST,
  CERTIFICATE,
  CERTIFICATE + CERTIFICATE,
  `-----BEGIN PRIVATE KEY-----\n${KEY}\n-----END PRIVATE KEY-----\n`,
];
