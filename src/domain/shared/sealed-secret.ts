/** A secret as the secret box sealed it: the only form that is stored. */
export type SealedSecret = string & { readonly form: 'sealed' };

/** A secret as its owner knows it, which signs. Any text but a sealed one. */
export type PlainSecret = string & { readonly form?: never };
