#ifndef PINGFERRY_CNETTLE_H
#define PINGFERRY_CNETTLE_H

#include <nettle/cbc.h>
#include <nettle/hmac.h>
#include <nettle/nettle-meta.h>
#include <nettle/nist-keywrap.h>
#include <nettle/pbkdf2.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

#endif
