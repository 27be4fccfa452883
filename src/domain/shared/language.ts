/** The languages of the service's own verification text; a project setting. */
export const LANGUAGES = ['ar', 'ckb', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];
