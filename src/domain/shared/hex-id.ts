/** Our ids are so many lower-case hex characters. */
export const HEX_ID_CHARACTERS = 24;
export const HEX_ID_PATTERN = new RegExp(`^[0-9a-f]{${HEX_ID_CHARACTERS}}$`);
