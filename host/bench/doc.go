// Package bench measures the plugin host beside its peers, all in one run. It is a module of its own, so that what the
// peers bring with them stays out of the product.
package bench
