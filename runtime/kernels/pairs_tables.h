/* pairs_tables.h - numbers of which functions of pairs are made; each is what
 * stands above it, rounded to a pair (computed with mpmath to 400 bits). */
#ifndef JX_PAIRS_TABLES_H
#define JX_PAIRS_TABLES_H

#include "runtime/kernels/pairs.h"

/* 1 / n! */
static const jx_pair jx_inverse_factorials[] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p-1, 0x0.0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
    {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
    {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
    {0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139},
    {0x1.88e85fc6a4e5ap-89, -0x1.71c37ebd16540p-143},
    {0x1.d1ab1c2dccea3p-94, 0x1.054d0c78aea14p-149},
};

/* The step of the rule for erfc, step / pi and 2 pi / step. */
#define JX_ERFC_STEP 0.34375
#define JX_ERFC_SCALE                                                          \
    {                                                                          \
        0x1.c02e296f573b4p-4, -0x1.7322a4f39fa77p-58                           \
    }
#define JX_ERFC_TURN                                                           \
    {                                                                          \
        0x1.247426bd47de3p+4, 0x1.c11e37d528014p-52                            \
    }

/* exp(-(n step)^2) */
static const jx_pair jx_weights[] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.c6f00f5fd3d7fp-1, -0x1.ca4c29db2b71cp-55},
    {0x1.3f26fc3a423a1p-1, 0x1.8b36154e2d2e1p-55},
    {0x1.618a1d3bed529p-2, 0x1.2edd37e73e54dp-56},
    {0x1.3533a6159f0c4p-3, -0x1.349869c1290e7p-58},
    {0x1.ab03092a9353ep-5, 0x1.9debb5f9023fbp-59},
    {0x1.d1969167c47a6p-7, -0x1.505a2c562b481p-62},
    {0x1.90ccd8cf7ade9p-9, -0x1.335ef811bb2ccp-64},
    {0x1.1068222437d65p-11, 0x1.5fce98a3105e2p-65},
    {0x1.245963dc918c7p-14, -0x1.73913a0a5e77bp-68},
    {0x1.ef6d5dc130f34p-18, -0x1.f2ed4b8ebcfa3p-72},
    {0x1.4b6e1584a8971p-21, -0x1.87dd6f62b70f9p-77},
    {0x1.5e1ac6dedefcap-25, -0x1.c02a1a76710d0p-81},
    {0x1.23fd68479eb54p-29, 0x1.ac3f8221eb6e1p-83},
    {0x1.808806e465fddp-34, -0x1.6740991d7e7a2p-88},
    {0x1.8fd0cab75acbfp-39, 0x1.26cf7ed986fb3p-93},
    {0x1.4835bd010a41bp-44, 0x1.7ab2b43c666b5p-99},
    {0x1.a970798776731p-50, -0x1.e4f9872820c96p-105},
    {0x1.b36631cfedfd5p-56, 0x1.dbb2c353600b1p-113},
    {0x1.5fcdfe28b2b0ap-62, 0x1.c8120d0b0286ap-116},
    {0x1.c0dbccd3eacc1p-69, -0x1.08a9c16a36fbbp-123},
    {0x1.c4261fea6820ap-76, 0x1.828897eee618fp-133},
    {0x1.679920e65d86ep-83, -0x1.ba97a3309dafdp-138},
    {0x1.c397dd170e1d2p-91, 0x1.28d27ddb198e2p-145},
    {0x1.bfc185a84a1f3p-99, -0x1.5874a2869fbb4p-153},
    {0x1.5e825521d18a3p-107, -0x1.f8dcf5a99d83ap-161},
    {0x1.b1433d68c205bp-116, 0x1.312d68fd3f470p-170},
};

/* 2 / (2 n + 1) */
static const jx_pair jx_two_over_odd[] = {
    {0x1.0000000000000p+1, 0x0.0p+0},
    {0x1.5555555555555p-1, 0x1.5555555555555p-55},
    {0x1.999999999999ap-2, -0x1.999999999999ap-56},
    {0x1.2492492492492p-2, 0x1.2492492492492p-56},
    {0x1.c71c71c71c71cp-3, 0x1.c71c71c71c71cp-57},
    {0x1.745d1745d1746p-3, -0x1.745d1745d1746p-58},
    {0x1.3b13b13b13b14p-3, -0x1.3b13b13b13b14p-57},
    {0x1.1111111111111p-3, 0x1.1111111111111p-59},
    {0x1.e1e1e1e1e1e1ep-4, 0x1.e1e1e1e1e1e1ep-60},
    {0x1.af286bca1af28p-4, 0x1.af286bca1af28p-58},
    {0x1.8618618618618p-4, 0x1.8618618618618p-58},
    {0x1.642c8590b2164p-4, 0x1.642c8590b2164p-59},
    {0x1.47ae147ae147bp-4, -0x1.eb851eb851eb8p-60},
    {0x1.2f684bda12f68p-4, 0x1.2f684bda12f68p-58},
    {0x1.1a7b9611a7b96p-4, 0x1.1a7b9611a7b96p-60},
    {0x1.0842108421084p-4, 0x1.0842108421084p-59},
    {0x1.f07c1f07c1f08p-5, -0x1.f07c1f07c1f08p-60},
    {0x1.d41d41d41d41dp-5, 0x1.0750750750750p-59},
    {0x1.bacf914c1bad0p-5, -0x1.bacf914c1bad0p-59},
    {0x1.a41a41a41a41ap-5, 0x1.0690690690690p-59},
    {0x1.8f9c18f9c18fap-5, -0x1.f3831f3831f38p-60},
    {0x1.7d05f417d05f4p-5, 0x1.7d05f417d05f4p-61},
    {0x1.6c16c16c16c17p-5, -0x1.f49f49f49f49fp-60},
};

#endif
