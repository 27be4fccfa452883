/** Our ids: 24 lower-case hex characters. */
export const HEX_ID_PATTERN = /^[0-9a-f]{24}$/;
