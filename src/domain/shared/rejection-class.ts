/**
 * What a rejection of a channel provider is about. `busy`: the provider takes nothing for now. `limited`: it takes no more for
 * now from this sender or to this recipient. `sender`: nothing can be sent with this sender ID, number or template until somebody acts. `message`: this message or recipient, and another channel may
 * carry it. `ends-chain`: no other channel could carry it either.
 */
export const REJECTION_CLASSES = ['busy', 'limited', 'sender', 'message', 'ends-chain'] as const;
export type RejectionClass = (typeof REJECTION_CLASSES)[number];
