import type {
  CallbackContent,
  CallbackRequest,
  ProviderCallback,
} from '../../application/ports/provider-callback.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import type { ReceiptReader } from './gateway-receipts.ts';

interface HttpGatewayCallbackOptions {
  readonly receipts: ReceiptReader;
  readonly hmac: Hmac;
}

/** Reads the delivery receipts of an HTTP gateway as its configuration describes them. Asks no storage. */
export class HttpGatewayCallback implements ProviderCallback {
  readonly #options: HttpGatewayCallbackOptions;

  constructor(options: HttpGatewayCallbackOptions) {
    this.#options = options;
  }

  async read(request: CallbackRequest): Promise<CallbackContent> {
    const { receipts, hmac } = this.#options;
    return receipts(request, hmac);
  }
}
