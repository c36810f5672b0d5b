/* two_over_pi.h - 2/pi by the exponents of large f32, to take angles apart.
 *
 * Row i is 2^(i - 7) 2/pi, less the multiples of 4 in it, in three parts
 * of which the product with an integer of 24 bits is exact (the last:
 * nearly): bits down to 2^-26, down to 2^-54, and the rest.  Made of
 * 2/pi to 400 bits. */
#ifndef JX_TWO_OVER_PI_H
#define JX_TWO_OVER_PI_H

#define JX_TWO_OVER_PI(X)                                                      \
    X(0x1.45f3p-8, 0x1.b72722p-30, 0x1.529fc2757d1f5p-59)                      \
    X(0x1.45f3p-7, 0x1.b72722p-29, 0x1.529fc2757d1f5p-58)                      \
    X(0x1.45f3p-6, 0x1.b72722p-28, 0x1.529fc2757d1f5p-57)                      \
    X(0x1.45f3p-5, 0x1.b72722p-27, 0x1.529fc2757d1f5p-56)                      \
    X(0x1.45f304p-4, 0x1.6e4e44p-27, 0x1.529fc2757d1f5p-55)                    \
    X(0x1.45f306p-3, 0x1.b939104p-28, 0x1.4a7f09d5f47d5p-56)                   \
    X(0x1.45f306p-2, 0x1.b939104p-27, 0x1.4a7f09d5f47d5p-55)                   \
    X(0x1.45f3068p-1, 0x1.727220ap-27, 0x1.29fc2757d1f53p-56)                  \
    X(0x1.45f306cp0, 0x1.c9c8828p-28, 0x1.29fc2757d1f53p-55)                   \
    X(0x1.45f306cp1, 0x1.c9c882ap-27, 0x1.4fe13abe8fa9ap-57)                   \
    X(0x1.17cc1b4p0, 0x1.9391054p-27, 0x1.4fe13abe8fa9ap-56)                   \
    X(0x1.17cc1b6p1, 0x1.27220a8p-27, 0x1.4fe13abe8fa9ap-55)                   \
    X(0x1.7cc1b7p-2, 0x1.3910548p-29, 0x1.3f84eafa3ea6ap-56)                   \
    X(0x1.7cc1b7p-1, 0x1.3910548p-28, 0x1.3f84eafa3ea6ap-55)                   \
    X(0x1.7cc1b7p0, 0x1.391054ap-27, 0x1.fc2757d1f534ep-57)                    \
    X(0x1.7cc1b72p1, 0x1.c882a5p-29, 0x1.fc2757d1f534ep-56)                    \
    X(0x1.f306dc8p0, 0x1.c882a5p-28, 0x1.fc2757d1f534ep-55)                    \
    X(0x1.f306dc8p1, 0x1.c882a52p-27, 0x1.f84eafa3ea69cp-55)                   \
    X(0x1.e60db92p1, 0x1.91054a6p-27, 0x1.f09d5f47d4d37p-55)                   \
    X(0x1.cc1b726p1, 0x1.220a94ep-27, 0x1.e13abe8fa9a6fp-55)                   \
    X(0x1.9836e4ep1, 0x1.1054a78p-29, 0x1.c2757d1f534dep-55)                   \
    X(0x1.306dc9cp1, 0x1.1054a7cp-28, 0x1.84eafa3ea69bcp-55)                   \
    X(0x1.836e4ep-1, 0x1.1054a7ep-27, 0x1.09d5f47d4d377p-55)                   \
    X(0x1.836e4e4p0, 0x1.054a7fp-30, 0x1.3abe8fa9a6eep-59)                     \
    X(0x1.836e4e4p1, 0x1.054a7fp-29, 0x1.3abe8fa9a6eep-58)                     \
    X(0x1.06dc9c8p1, 0x1.054a7fp-28, 0x1.3abe8fa9a6eep-57)                     \
    X(0x1.b7272p-4, 0x1.054a7fp-27, 0x1.3abe8fa9a6eep-56)                      \
    X(0x1.b72722p-3, 0x1.529fcp-32, 0x1.3abe8fa9a6eep-55)                      \
    X(0x1.b72722p-2, 0x1.529fc2p-31, 0x1.d5f47d4d37703p-57)                    \
    X(0x1.b72722p-1, 0x1.529fc2p-30, 0x1.d5f47d4d37703p-56)                    \
    X(0x1.b72722p0, 0x1.529fc2p-29, 0x1.d5f47d4d37703p-55)                     \
    X(0x1.b72722p1, 0x1.529fc24p-28, 0x1.abe8fa9a6ee07p-55)                    \
    X(0x1.6e4e44p1, 0x1.529fc26p-27, 0x1.57d1f534ddc0ep-55)                    \
    X(0x1.b939104p0, 0x1.4a7f09cp-28, 0x1.5f47d4d377037p-56)                   \
    X(0x1.b939104p1, 0x1.4a7f09cp-27, 0x1.5f47d4d377037p-55)                   \
    X(0x1.727220ap1, 0x1.29fc274p-28, 0x1.7d1f534ddc0dbp-56)                   \
    X(0x1.c9c8828p0, 0x1.29fc274p-27, 0x1.7d1f534ddc0dbp-55)                   \
    X(0x1.c9c882ap1, 0x1.4fe13a8p-29, 0x1.f47d4d377036ep-56)                   \
    X(0x1.9391054p1, 0x1.4fe13a8p-28, 0x1.f47d4d377036ep-55)                   \
    X(0x1.27220a8p1, 0x1.4fe13aap-27, 0x1.e8fa9a6ee06dbp-55)                   \
    X(0x1.3910548p-1, 0x1.3f84eacp-28, 0x1.d1f534ddc0db6p-55)                  \
    X(0x1.3910548p0, 0x1.3f84eaep-27, 0x1.a3ea69bb81b6cp-55)                   \
    X(0x1.391054ap1, 0x1.fc27578p-29, 0x1.47d4d377036d9p-55)                   \
    X(0x1.c882a5p-1, 0x1.fc2757cp-28, 0x1.1f534ddc0db63p-56)                   \
    X(0x1.c882a5p0, 0x1.fc2757cp-27, 0x1.1f534ddc0db63p-55)                    \
    X(0x1.c882a52p1, 0x1.f84eafap-27, 0x1.f534ddc0db629p-58)                   \
    X(0x1.91054a6p1, 0x1.f09d5f4p-27, 0x1.f534ddc0db629p-57)                   \
    X(0x1.220a94ep1, 0x1.e13abe8p-27, 0x1.f534ddc0db629p-56)                   \
    X(0x1.1054a78p-1, 0x1.c2757dp-27, 0x1.f534ddc0db629p-55)                   \
    X(0x1.1054a7cp0, 0x1.84eafa2p-27, 0x1.ea69bb81b6c53p-55)                   \
    X(0x1.1054a7ep1, 0x1.09d5f46p-27, 0x1.d4d377036d8a5p-55)                   \
    X(0x1.054a7fp-2, 0x1.3abe8ep-31, 0x1.a9a6ee06db14bp-55)                    \
    X(0x1.054a7fp-1, 0x1.3abe8fp-30, 0x1.534ddc0db6296p-55)                    \
    X(0x1.054a7fp0, 0x1.3abe8f8p-29, 0x1.4d377036d8a56p-56)                    \
    X(0x1.054a7fp1, 0x1.3abe8f8p-28, 0x1.4d377036d8a56p-55)                    \
    X(0x1.529fcp-4, 0x1.3abe8fap-27, 0x1.34ddc0db6295ap-56)                    \
    X(0x1.529fc2p-3, 0x1.d5f47dp-29, 0x1.34ddc0db6295ap-55)                    \
    X(0x1.529fc2p-2, 0x1.d5f47d4p-28, 0x1.a6ee06db14acdp-57)                   \
    X(0x1.529fc2p-1, 0x1.d5f47d4p-27, 0x1.a6ee06db14acdp-56)                   \
    X(0x1.529fc24p0, 0x1.abe8fa8p-27, 0x1.a6ee06db14acdp-55)                   \
    X(0x1.529fc26p1, 0x1.57d1f52p-27, 0x1.4ddc0db629599p-55)                   \
    X(0x1.4a7f09cp0, 0x1.5f47d4cp-28, 0x1.377036d8a5665p-56)                   \
    X(0x1.4a7f09cp1, 0x1.5f47d4cp-27, 0x1.377036d8a5665p-55)                   \
    X(0x1.29fc274p0, 0x1.7d1f534p-28, 0x1.bb81b6c52b328p-57)                   \
    X(0x1.29fc274p1, 0x1.7d1f534p-27, 0x1.bb81b6c52b328p-56)                   \
    X(0x1.4fe13a8p-1, 0x1.f47d4dp-28, 0x1.bb81b6c52b328p-55)                   \
    X(0x1.4fe13a8p0, 0x1.f47d4d2p-27, 0x1.77036d8a5664fp-55)                   \
    X(0x1.4fe13aap1, 0x1.e8fa9a6p-27, 0x1.dc0db6295993cp-56)                   \
    X(0x1.3f84eacp0, 0x1.d1f534cp-27, 0x1.dc0db6295993cp-55)                   \
    X(0x1.3f84eaep1, 0x1.a3ea69ap-27, 0x1.b81b6c52b3279p-55)                   \
    X(0x1.fc27578p-1, 0x1.47d4d36p-27, 0x1.7036d8a5664f1p-55)                  \
    X(0x1.fc2757cp0, 0x1.1f534dcp-28, 0x1.c0db6295993c4p-56)                   \
    X(0x1.fc2757cp1, 0x1.1f534dcp-27, 0x1.c0db6295993c4p-55)                   \
    X(0x1.f84eafap1, 0x1.f534ddp-30, 0x1.81b6c52b32788p-55)                    \
    X(0x1.f09d5f4p1, 0x1.f534dd8p-29, 0x1.036d8a5664f11p-55)                   \
    X(0x1.e13abe8p1, 0x1.f534ddcp-28, 0x1.b6c52b3278872p-61)                   \
    X(0x1.c2757dp1, 0x1.f534ddcp-27, 0x1.b6c52b3278872p-60)                    \
    X(0x1.84eafa2p1, 0x1.ea69bb8p-27, 0x1.b6c52b3278872p-59)                   \
    X(0x1.09d5f46p1, 0x1.d4d377p-27, 0x1.b6c52b3278872p-58)                    \
    X(0x1.3abe8ep-3, 0x1.a9a6eep-27, 0x1.b6c52b3278872p-57)                    \
    X(0x1.3abe8fp-2, 0x1.534ddcp-27, 0x1.b6c52b3278872p-56)                    \
    X(0x1.3abe8f8p-1, 0x1.4d377p-28, 0x1.b6c52b3278872p-55)                    \
    X(0x1.3abe8f8p0, 0x1.4d37702p-27, 0x1.6d8a5664f10e4p-55)                   \
    X(0x1.3abe8fap1, 0x1.34ddc0cp-28, 0x1.b6295993c439p-56)                    \
    X(0x1.d5f47dp-1, 0x1.34ddc0cp-27, 0x1.b6295993c439p-55)                    \
    X(0x1.d5f47d4p0, 0x1.a6ee068p-29, 0x1.6c52b32788721p-55)                   \
    X(0x1.d5f47d4p1, 0x1.a6ee06cp-28, 0x1.b14acc9e21c82p-56)                   \
    X(0x1.abe8fa8p1, 0x1.a6ee06cp-27, 0x1.b14acc9e21c82p-55)                   \
    X(0x1.57d1f52p1, 0x1.4ddc0dap-27, 0x1.6295993c43904p-55)                   \
    X(0x1.5f47d4cp0, 0x1.377036cp-28, 0x1.8a5664f10e41p-56)                    \
    X(0x1.5f47d4cp1, 0x1.377036cp-27, 0x1.8a5664f10e41p-55)                    \
    X(0x1.7d1f534p0, 0x1.bb81b68p-29, 0x1.14acc9e21c821p-55)                   \
    X(0x1.7d1f534p1, 0x1.bb81b6cp-28, 0x1.4acc9e21c821p-58)                    \
    X(0x1.f47d4dp0, 0x1.bb81b6cp-27, 0x1.4acc9e21c821p-57)                     \
    X(0x1.f47d4d2p1, 0x1.77036d8p-27, 0x1.4acc9e21c821p-56)                    \
    X(0x1.e8fa9a6p1, 0x1.dc0db6p-28, 0x1.4acc9e21c821p-55)                     \
    X(0x1.d1f534cp1, 0x1.dc0db62p-27, 0x1.2b3278872084p-56)                    \
    X(0x1.a3ea69ap1, 0x1.b81b6c4p-27, 0x1.2b3278872084p-55)                    \
    X(0x1.47d4d36p1, 0x1.7036d8ap-27, 0x1.5993c439041fep-57)                   \
    X(0x1.1f534dcp0, 0x1.c0db628p-28, 0x1.5993c439041fep-56)                   \
    X(0x1.1f534dcp1, 0x1.c0db628p-27, 0x1.5993c439041fep-55)                   \
    X(0x1.f534ddp-2, 0x1.81b6c52p-27, 0x1.664f10e4107f9p-56)                   \
    X(0x1.f534dd8p-1, 0x1.036d8a4p-27, 0x1.664f10e4107f9p-55)                  \
    X(0x1.f534ddcp0, 0x1.b6c528p-33, 0x1.993c439041fe5p-56)                    \
    X(0x1.f534ddcp1, 0x1.b6c528p-32, 0x1.993c439041fe5p-55)                    \
    X(0x1.ea69bb8p1, 0x1.b6c52ap-31, 0x1.3278872083fcap-55)                    \
    X(0x1.d4d377p1, 0x1.b6c52bp-30, 0x1.93c439041fe51p-57)                     \
    X(0x1.a9a6eep1, 0x1.b6c52bp-29, 0x1.93c439041fe51p-56)                     \
    X(0x1.534ddcp1, 0x1.b6c52bp-28, 0x1.93c439041fe51p-55)                     \
    X(0x1.4d377p0, 0x1.b6c52b2p-27, 0x1.278872083fca3p-55)                     \
    X(0x1.4d37702p1, 0x1.6d8a566p-27, 0x1.3c439041fe516p-57)                   \
    X(0x1.34ddc0cp0, 0x1.b629598p-28, 0x1.3c439041fe516p-56)

#endif
