/**
 * What a rejection of a channel provider is about. `busy`: the provider takes nothing for now, from anybody. `throttled`: it
 * takes messages, and no more than it took just now. `limited`: it takes no more for now from this sender, to this recipient, or
 * out of our own queue; others are not concerned. `sender`: nothing can be sent with this sender ID, number or template until
 * somebody acts. `message`: this message or recipient, and another channel may carry it. `ends-chain`: no other channel could
 * carry it either.
 */
export const REJECTION_CLASSES = ['busy', 'throttled', 'limited', 'sender', 'message', 'ends-chain'] as const;
export type RejectionClass = (typeof REJECTION_CLASSES)[number];

/** Why a provider rejected a message that it would take at another time, or that another provider of the channel may take. */
export type RejectionCause = Exclude<RejectionClass, 'message' | 'ends-chain'>;
