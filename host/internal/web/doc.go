// Package web gives every face of the service the same door: nobody gets in from a foreign page, with too large a
// body or without the credential, and nothing gets out with a configured secret in it.
//
// The checks have one order: Host and Origin, content type and size of the body, authentication, rate limit. Only then a
// face's handler runs; decoding, validation and saturation are its own, with the strict readers of this package. What
// the routes mean, and which wire types they speak, is left to the faces.
package web
