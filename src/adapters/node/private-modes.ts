/** The modes of what only the service's own user may read: it holds codes, texts, numbers and keys. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
