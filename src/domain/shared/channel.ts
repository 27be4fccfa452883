/** The ways a message can travel (specification 1). */
export const CHANNELS = ['sms', 'whatsapp', 'telegram'] as const;
export type Channel = (typeof CHANNELS)[number];
