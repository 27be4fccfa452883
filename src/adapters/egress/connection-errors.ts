/** The url is not one that may ever be connected to. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked';
}

/** The name leads to an address that is not allowed; it may lead elsewhere another time. */
export class NameBlocked extends Error {
  override readonly name = 'NameBlocked';
}

/** No connection within the time allowed. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

/** The receiver could not prove who it is, speaks no acceptable TLS, or sends too much in its handshake. */
export class HandshakeFailed extends Error {
  override readonly name = 'HandshakeFailed';
}

/** More came than is read of one response. */
export class ResponseTooLong extends Error {
  override readonly name = 'ResponseTooLong';
}

/** The receiver sent a response before it had a request. */
export class ResponseTooEarly extends Error {
  override readonly name = 'ResponseTooEarly';
}

/** The peer sends, and reads nothing of what it is sent. */
export class NothingRead extends Error {
  override readonly name = 'NothingRead';
}
